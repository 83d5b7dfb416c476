package corpus

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
)

// FromTexts makes a corpus of texts in memory. labels[i] are the classes of text i as in a TSV
// file: one, several with commas between, "-" or "" for none; nil for no labels at all. Options
// that ask for a format, columns or files are not looked at.
// Errors of [Read] name text i instead of a file and a line.
func FromTexts(ctx context.Context, texts, labels []string, opt Options) (*Corpus, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if labels != nil && len(labels) != len(texts) {
		return nil, fmt.Errorf("corpus: %d labels, expected %d, one for each text, or none", len(labels), len(texts))
	}
	opt.Labels, opt.GroupColumn, opt.rows = "", "", true
	return opt.start(ctx, func(ctx context.Context, opt *Options, m *meter) (*Corpus, error) {
		at := func(i int) string { return "text " + strconv.Itoa(i) }
		return fromTexts(ctx, texts, labels, opt, m, "texts", at)
	})
}

func fromTexts(
	ctx context.Context, texts, labels []string, opt *Options, m *meter, name string, at func(i int) string,
) (*Corpus, error) {
	if len(texts) == 0 {
		return nil, fault("no documents", "at least one text").at(name, 0)
	}
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return nil, err
	}
	check, rows, bad := textCheck{strict: opt.Strict}, opt.Tokenizer.Rows(), make([]int64, len(texts))
	documents, err := opt.countTexts(ctx, counters, texts, m, at, func(i int, text []byte) error {
		if !check.clean(text) {
			if bad[i] = check.count(text); check.strict {
				return check.fault(text).at(at(i), 0)
			}
		}
		if _, err := rows.Check(text); err != nil {
			return rowFault(err).at(at(i), 0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	piece := opt.labels(false)
	var warn warnings
	for i := range texts {
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

// countTexts counts the terms of texts, each a document, after check.
func (o *Options) countTexts(
	ctx context.Context, counters []*termCounter, texts []string, m *meter, at func(i int) string,
	check func(i int, text []byte) error,
) ([]countedDocument, error) {
	documents := make([]countedDocument, len(texts))
	return documents, run.InOrder(ctx, o.Workers, len(texts), func(w, i int) error {
		text := []byte(texts[i])
		if err := check(i, text); err != nil {
			return err
		}
		counters[w].add(text)
		documents[i] = counters[w].endDocument()
		m.documents.Add(1)
		return o.memory.check(at(i))
	})
}
