package agentmem

import (
	"fmt"

	"mem/core/memdir"
	"mem/core/text"
)

// holdCollisions holds back topics whose names some file systems take for that of another
// one: a snapshot with both is refused everywhere. Whose name is in the snapshot already
// keeps it.
func (p *publishing) holdCollisions() {
	owner := map[string]*item{}
	for _, it := range p.items {
		if it.theirs != "" {
			owner[folded(it.theirs)] = it
		}
	}
	for _, it := range p.items { // in the order of their names
		if it.mine == "" || it.mine == it.theirs || p.hold[it.mine] {
			continue
		}
		other := owner[folded(it.mine)]
		if other == nil || other == it {
			owner[folded(it.mine)] = it
			continue
		}
		p.held = append(p.held, Held{Item: it.mine + ":name", Path: it.mine, Kind: "name", Never: true,
			Reason: "where letter case and how letters are composed do not count, its name is that of " + memdir.ShownName(other.path()) + ", and one of them would be lost there"})
		p.holdItem(it)
	}
}

// checkNote refuses a note that says what no topic may say to the team.
func (p *publishing) checkNote() error {
	note := p.opt.Note
	if len(note) > maxNoteText {
		return fmt.Errorf("the note has %d bytes; it may have %d", len(note), maxNoteText)
	}
	why := personalPath(note, p.m.Env().Home)
	if who := personalMail(note); why == "" && who != "" {
		why = "it holds an e-mail address (" + memdir.Shown(who, 80) + ")"
	}
	if found := p.m.Guard().Added(nil, text.Bytes(note)); why == "" && len(found) > 0 {
		why = found[0].Reason
	}
	if why != "" {
		return fmt.Errorf("the note goes to the team with the snapshot: %s. Nothing was published; leave that out of the note", why)
	}
	return nil
}
