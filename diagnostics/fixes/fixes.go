// Package fixes owns the fixes: one file each. A fix turns a finding into a change
// of the memory directory that it was found in; rules name fixes by their IDs.
package fixes

import (
	"errors"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// All gives every fix.
func All() []diagnostics.Fix {
	return []diagnostics.Fix{
		moveDetails(),
		shortenIndex(),
		moveSection(),
		createTopic(),
		retargetLink(),
		removeEntry(),
		removeLink(),
		removeDuplicate(),
		addEntry(),
		removeFrontmatter(),
		removeComment(),
		addFrontmatter(),
		closeFrontmatter(),
		quoteValue(),
		renameKey(),
		setName(),
		slugName(),
		setDescription(),
		joinDescription(),
		setType(),
		keepEffectiveKey(),
		insertStructure(),
		absoluteDate(),
		renameLink(),
		removeParagraph(),
		removeCharacters(),
		removeBOM(),
		removeIgnore(),
		redactSecret(),
		takeTheirs(),
		takeBoth(),
		keepMine(),
		skipNews(),
		openDifference(),
		publishTopic(),
	}
}

// edit gives the change of one file.
func edit(path string, in *text.Text, edits ...text.Edit) (change.Change, error) {
	f, ok := change.EditFile(path, in.String(), edits)
	if !ok {
		return change.Change{}, errors.New("there is nothing to change")
	}
	return change.Change{Files: []change.File{f}}, nil
}
