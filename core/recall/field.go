package recall

// Field is a part of a document that is weighed on its own.
type Field uint8

const (
	Name        Field = iota // weight 4
	Description              // weight 3
	Headings                 // weight 2; their text may stand in the body as well
	Body                     // weight 1
	numFields
)

func (f Field) String() string {
	switch f {
	case Name:
		return "name"
	case Description:
		return "description"
	case Headings:
		return "headings"
	case Body:
		return "body"
	}
	return "unknown"
}

// MarshalText writes the name of the field, which JSON results use.
func (f Field) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

var fieldWeights = [numFields]float64{weightName, weightDescription, weightHeadings, weightBody}

// Doc is one searchable text: a topic or a daily log.
type Doc struct {
	ID          string // unique in an index, for example the path
	Name        string
	Description string
	Headings    string // one a line
	Body        string

	// Hash stands for all of the fields above: two documents with the same ID
	// and Hash are taken for the same without a look at their text, which may
	// then be left out (see [Index.Has]). Without a hash the fields are compared.
	Hash string
}

func (d *Doc) fields() [numFields]string {
	return [numFields]string{d.Name, d.Description, d.Headings, d.Body}
}
