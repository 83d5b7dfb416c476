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
	if err := opt.check(); err != nil {
		return nil, err
	}
	what := "text"
	if raw.Rows != nil {
		what = "row"
	}
	if labels != nil && len(labels) != raw.Len() {
		return nil, fmt.Errorf("corpus: %d labels, but %d %ss", len(labels), raw.Len(), what)
	}
	raw, err := raw.cutBy(opt.Tokenizer)
	if err != nil {
		return nil, err
	}
	opt.Labels, opt.GroupColumn, opt.rows = "", "", raw.Rows != nil
	return opt.start(ctx, func(ctx context.Context, opt *Options, m *meter) (*Corpus, error) {
		at := func(i int) string { return what + " " + strconv.Itoa(i) }
		return opt.cut(ctx, raw, labels, m, what+"s", at)
	})
}

// cut divides documents into terms.
func (opt *Options) cut(
	ctx context.Context, raw Raw, labels []string, m *meter, name string, at func(i int) string,
) (*Corpus, error) {
	if raw.Len() == 0 {
		return nil, fault("no documents", "one or more texts").at(name, 0)
	}
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return nil, err
	}
	check, bad := textCheck{strict: opt.Strict}, make([]int64, raw.Len())
	documents := make([]countedDocument, raw.Len())
	err = run.InOrder(ctx, opt.Workers, raw.Len(), func(w, i int) error {
		fields := raw.fields(i)
		for _, field := range fields {
			if data := []byte(field); !check.clean(data) {
				bad[i] += check.count(data)
				if bad := check.fault(data); bad != nil {
					return bad.at(at(i), 0)
				}
			}
		}
		if raw.Rows == nil {
			counters[w].add([]byte(fields[0]))
		} else if err := counters[w].addRow(fields); err != nil {
			return rowFault(err).at(at(i), 0)
		}
		documents[i] = counters[w].endDocument()
		m.documents.Add(1)
		return opt.memory.check(at(i))
	})
	if err != nil {
		return nil, err
	}
	piece := opt.labels(false)
	var warn warnings
	for i := range documents {
		warn.badBytes(bad[i], at(i))
		if labels == nil || strings.TrimSpace(labels[i]) == "" {
			piece.addNone()
		} else if bad := piece.add([]byte(labels[i])); bad != nil {
			return nil, bad.at(at(i), 0)
		}
	}
	classes := newClassTable()
	classes.append(&piece)
	c := &Corpus{Source: name, Classes: classes.list, Labels: classes.labels, Warnings: warn}
	err = c.fillText(ctx, opt, counters, documents, at)
	if err == nil {
		c.warnSplit(classes, opt)
	}
	return c, err
}
