package store

import "os"

func ownedBy(os.FileInfo, uint32, uint32) bool { return true }
