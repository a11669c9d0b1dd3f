package rules

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

func nameDuplicate() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "name-duplicate",
		Severity: diagnostics.Warning,
		Summary:  "Two topics have the same name.",
		Evidence: []diagnostics.Evidence{
			{Claim: "[[name]] links are written with other case, dashes or underscores than the names they mean, so names that differ in these only are one", Source: "corpus", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			for _, same := range p.View.Memo(sameNameKey{}, func(topics []*memdir.Topic) any { return sameName(topics) }).([][]*memdir.Topic) {
				for _, t := range same[1:] {
					reportDuplicate(p, t, same)
				}
			}
		},
	}
}

type sameNameKey struct{}

// sameName gives the topics that share a name, by path, so that the first of each
// group stays the first.
func sameName(topics []*memdir.Topic) [][]*memdir.Topic {
	groups := make(map[string][]*memdir.Topic, len(topics))
	for _, t := range topics {
		name := memdir.Fold(t.Name())
		groups[name] = append(groups[name], t)
	}
	shared := [][]*memdir.Topic{}
	for _, t := range topics {
		if same := groups[memdir.Fold(t.Name())]; len(same) > 1 && t == same[0] {
			shared = append(shared, same)
		}
	}
	return shared
}

// reportDuplicate reports a topic that shares its name with others, the first of
// which has the older right to it.
func reportDuplicate(p *diagnostics.Pass, t *memdir.Topic, same []*memdir.Topic) {
	first := same[0]
	where := "is also that of " + shownName(first.Path)
	if t.Name() != first.Name() {
		where = fmt.Sprintf("differs only in case, dashes or spaces from %s, that of %s", shownName(first.Name()), shownName(first.Path))
	}
	if more := len(same) - 2; more > 0 {
		where += fmt.Sprintf(" and of %d more", more)
	}
	f := diagnostics.Finding{Path: t.Path,
		Message: fmt.Sprintf("The name %s %s, so a [[name]] link cannot tell them apart. Give one another name, or merge them.", shownName(t.Name()), where)}
	f.Text, f.Span = nameOf(p, t)
	const most = 3
	for _, other := range same {
		if other != t && len(f.Related) < most {
			r := diagnostics.Related{Path: other.Path, Message: "has the name " + shownName(other.Name())}
			r.Text, r.Span = nameOf(p, other)
			f.Related = append(f.Related, r)
		}
	}
	p.Report(f)
}

// nameOf gives where a topic's name stands: in its frontmatter, else the first
// line stands for the file name.
func nameOf(p *diagnostics.Pass, t *memdir.Topic) (*text.Text, text.Span) {
	d, err := p.Snapshot.Doc(t.Path)
	if err != nil {
		return text.New(""), text.Span{}
	}
	if k := d.File.Key("name"); k != nil && k.Value != "" {
		return d.File.Text, k.Raw
	}
	return d.File.Text, d.FirstLine()
}
