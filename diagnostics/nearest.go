package diagnostics

// maxNear is the length in bytes past which a word is compared with none.
const maxNear = 64

// nearest gives the word of a list that s was probably meant to be, "" where none is
// near: at most one change for every three characters.
func nearest(s string, words []string) string {
	if len(s) > maxNear {
		return ""
	}
	best, found := 1+max(len(s)/3, 1), ""
	for _, w := range words {
		if d := distance(s, w); d < best {
			best, found = d, w
		}
	}
	return found
}

// distance counts the changes of one byte, and the swaps of two neighbours, that
// turn a into b.
func distance(a, b string) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
