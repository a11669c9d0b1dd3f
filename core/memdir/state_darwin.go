package memdir

import "syscall"

func changedAt(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
