package index

const childVariable = "MEM_INDEX_CHILD"

func child() int { return 0 }
