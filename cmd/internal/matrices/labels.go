package matrices

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// numericLabels returns the number of each document's class, as assigned by [classNumbers]. It
// returns nil if there are no classes.
func numericLabels(c *corpus.Corpus, e *cli.Env) ([]string, error) {
	return numbersOfDocuments(c, classNumbers(c.Classes, e), "")
}

// classNumbers returns a number per class. If all class names are numbers, it returns the names.
// Otherwise it returns 1, 2 and so on, and prints the number of each class.
func classNumbers(names []string, e *cli.Env) []string {
	numbered := false
	for _, name := range names {
		if v, err := strconv.ParseFloat(name, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			numbered = true
		}
	}
	if !numbered {
		return names
	}
	numbers := make([]string, len(names))
	for id, name := range names {
		numbers[id] = strconv.Itoa(id + 1)
		e.Infof("label %d stands for class %s", id+1, name)
	}
	return numbers
}

// numbersOfDocuments returns the number of each document's class. For an unlabelled document, it
// returns missing, or fails if missing is "". It also fails if a document has several classes.
func numbersOfDocuments(c *corpus.Corpus, numbers []string, missing string) ([]string, error) {
	if len(c.Classes) == 0 {
		return nil, nil
	}
	labels := make([]string, c.Documents.Rows())
	for i := range labels {
		of := c.Labels.Classes(i)
		switch {
		case len(of) == 1:
			labels[i] = numbers[of[0]]
		case len(of) == 0 && missing != "":
			labels[i] = missing
		default:
			return nil, fmt.Errorf("%s has %s, but the libsvm format allows only one label per row",
				c.DocumentName(i), report.FormatCountOf(len(of), "class", "classes"))
		}
	}
	return labels, nil
}

// writeLabels writes a line LABELS<TAB>NAME per document. LABELS is a comma-separated list, or -
// for an unlabelled document. NAME is the document's file name, or its 1-based index if it has no
// file.
func writeLabels(w io.Writer, c *corpus.Corpus) error {
	for i := range c.Documents.Rows() {
		var names []string
		for _, id := range c.Labels.Classes(i) {
			names = append(names, c.Classes[id])
		}
		_, err := fmt.Fprintf(w, "%s\t%s\n", cmp.Or(strings.Join(names, ","), "-"),
			cmp.Or(source.DocumentName(c, i), strconv.Itoa(i+1)))
		if err != nil {
			return err
		}
	}
	return nil
}
