package corpus

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
)

// FromTexts makes a corpus of texts in memory. labels[i] holds the classes of text i as in a TSV
// file: one class, several separated by commas, or "-" or "" for none. If labels is nil, there are
// no labels. Options for formats, columns and files are ignored. Errors are as for [Read], but have
// the index of the text instead of file and line.
func FromTexts(ctx context.Context, texts, labels []string, opt Options) (*Corpus, error) {
	return fromRaw(ctx, Raw{Texts: texts}, labels, opt)
}

func fromRaw(ctx context.Context, raw Raw, labels []string, opt Options) (*Corpus, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	what := "text"
	if raw.Rows != nil {
		what = "row"
	}
	if labels != nil && len(labels) != raw.Len() {
		return nil, fmt.Errorf("corpus: %d labels, but %d %ss", len(labels), raw.Len(), what)
	}
	raw, err := raw.arrangeFor(opt.Tokenizer)
	if err != nil {
		return nil, err
	}
	opt.Labels, opt.GroupColumn, opt.mayHaveRows = "", "", raw.Rows != nil
	return opt.readWith(ctx, func(ctx context.Context, opt *Options, m *progressMeter) (*Corpus, error) {
		at := func(i int) string { return what + " " + strconv.Itoa(i) }
		return opt.tokenize(ctx, raw, labels, m, what+"s", at)
	})
}

func (opt *Options) tokenize(
	ctx context.Context, raw Raw, labels []string, m *progressMeter, name string, at func(i int) string,
) (*Corpus, error) {
	if raw.Len() == 0 {
		return nil, newSyntaxError("no documents", "one or more texts").withPosition(name, 0)
	}
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return nil, err
	}
	check, bad := textCheck{strict: opt.Strict}, make([]int64, raw.Len())
	documents := make([]countedDocument, raw.Len())
	err = run.ForEach(ctx, opt.Workers, raw.Len(), func(w, i int) error {
		fields := raw.fields(i)
		for _, field := range fields {
			if data := []byte(field); !check.isClean(data) {
				bad[i] += check.countInvalid(data)
				if bad := check.errorFor(data); bad != nil {
					return bad.withPosition(at(i), 0)
				}
			}
		}
		if raw.Rows == nil {
			counters[w].add([]byte(fields[0]))
		} else if err := counters[w].addRow(fields); err != nil {
			return rowError(err).withPosition(at(i), 0)
		}
		documents[i] = counters[w].endDocument()
		m.documents.Add(1)
		return opt.memory.check(at(i))
	})
	if err != nil {
		return nil, err
	}
	piece := opt.newParsedLabels(false)
	var warn warnings
	for i := range documents {
		warn.addBadBytes(bad[i], at(i))
		if labels == nil || strings.TrimSpace(labels[i]) == "" {
			piece.addUnlabelled()
		} else if bad := piece.add([]byte(labels[i])); bad != nil {
			return nil, bad.withPosition(at(i), 0)
		}
	}
	classes := newClassTable()
	classes.append(&piece)
	c := &Corpus{Source: name, Classes: classes.list, Labels: classes.labels, Warnings: warn}
	err = c.setDocuments(ctx, opt, counters, documents, at)
	if err == nil {
		c.warnSplit(classes, opt)
	}
	return c, err
}
