package sparse

import "fmt"

// Validate reports the first thing in which a corpus contradicts itself, or nil: documents as
// [CSR.Validate] wants them, labels as [Labels.Validate] does, and, each unless it is nil, a text
// for every column and a name and a group for every document. It takes one pass.
func (c *Corpus) Validate() error {
	if c == nil {
		return fmt.Errorf("sparse: no corpus, expected one")
	}
	if err := c.Documents.Validate(); err != nil {
		return err
	}
	rows := c.Documents.Rows()
	if err := c.Labels.Validate(rows, len(c.Classes)); err != nil {
		return err
	}
	switch {
	case c.Vocabulary != nil && len(c.Vocabulary) < c.Documents.Cols:
		return fmt.Errorf("sparse: a vocabulary of %d terms, expected at least %d, one for each column, or none",
			len(c.Vocabulary), c.Documents.Cols)
	case c.Names != nil && len(c.Names) != rows:
		return fmt.Errorf("sparse: %d names, expected %d, one for each document, or none", len(c.Names), rows)
	case c.Groups != nil && len(c.Groups) != rows:
		return fmt.Errorf("sparse: %d groups, expected %d, one for each document, or none", len(c.Groups), rows)
	}
	return nil
}

// Validate reports the first thing in which labels don't fit so many documents and classes, or nil.
// The zero value, no labels at all, fits any number. It takes one pass.
func (l Labels) Validate(documents, classes int) error {
	switch n := len(l.Offsets); {
	case n == 0 && len(l.IDs) > 0:
		return fmt.Errorf("sparse: labels without offsets have %d classes, expected none", len(l.IDs))
	case n == 0:
		return nil
	case n-1 != documents:
		return fmt.Errorf("sparse: labels of %d documents, expected those of %d, or none", n-1, documents)
	case l.Offsets[0] != 0:
		return fmt.Errorf("sparse: labels begin at offset %d, expected 0", l.Offsets[0])
	case l.Offsets[documents] != int64(len(l.IDs)):
		return fmt.Errorf("sparse: labels end at offset %d, expected %d, the number of classes that they list",
			l.Offsets[documents], len(l.IDs))
	}
	for i := range documents {
		if lo, hi := l.Offsets[i], l.Offsets[i+1]; hi < lo {
			return fmt.Errorf("sparse: labels of document %d end at offset %d, expected at least %d, where they begin",
				i, hi, lo)
		}
	}
	for k, id := range l.IDs {
		if id < 0 || int64(id) >= int64(classes) {
			return fmt.Errorf("sparse: labels: class %d at offset %d, expected 0 to %d, one in the list of classes",
				id, k, classes-1)
		}
	}
	return nil
}
