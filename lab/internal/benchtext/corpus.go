package benchtext

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/lab/internal/peers"
	"github.com/gramengine/gram/solver"
)

// corpus is a corpus to measure on. Without test documents it is divided into folds.
type dataset struct {
	name, train, test string
	short             bool // labels without what follows |, the university of WebKB
	most              int  // if not 0, documents of one label alone, of this many labels, the most frequent of both parts
}

// corpora are those of the data folder, the quickest first.
var corpora = []dataset{
	{"TREC questions", "trec/train.tsv.gz", "trec/test.tsv.gz", false, 0},
	{"News in Somali", "masakhane-som/train.tsv.gz", "masakhane-som/test.tsv.gz", false, 0},
	{"Take-away reviews, Chinese", "zh-waimai/train.tsv.gz", "zh-waimai/test.tsv.gz", false, 0},
	{"Reuters, R8", "reuters-modapte/train.tsv.gz", "reuters-modapte/test.tsv.gz", false, 8},
	{"Reuters, R52", "reuters-modapte/train.tsv.gz", "reuters-modapte/test.tsv.gz", false, 52},
	{"WebKB, 4 classes", "webkb/all.tsv.gz", "", true, 0},
	{"WebKB, 20 classes", "webkb/all.tsv.gz", "", false, 0},
	{"MR, sentences of film reviews", "mr/train.tsv.gz", "mr/test.tsv.gz", false, 0},
	{"CLINC150, questions", "clinc150/train.tsv.gz", "clinc150/test.tsv.gz", false, 0},
	{"Ohsumed, medical abstracts", "ohsumed/train.tsv.gz", "ohsumed/test.tsv.gz", false, 0},
	{"Reuters-21578, ModApte", "reuters-modapte/train.tsv.gz", "reuters-modapte/test.tsv.gz", false, 0},
	{"MNIST", "mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz", false, 0},
	{"20 Newsgroups, by date", "20news-bydate/train.tsv.gz", "20news-bydate/test.tsv.gz", false, 0},
}

// part is what one training learns from, and predicts.
type part struct {
	train, test string
	truth       [][]string // labels of the test documents
	documents   [2]int
}

// folds is how many folds a corpus without test documents has, and a search.
const folds = 5

// parts writes what the programs read.
func (t *trial) parts(ctx context.Context) ([]part, error) {
	if strings.Contains(t.corpus.train, "idx") {
		return t.images(ctx)
	}
	lines, err := peers.ReadLines(filepath.Join(t.Data, t.corpus.train))
	if err != nil {
		return nil, err
	}
	if t.corpus.short {
		peers.ShortLabels(lines)
	}
	if t.corpus.test != "" {
		tests, err := peers.ReadLines(filepath.Join(t.Data, t.corpus.test))
		if err != nil {
			return nil, err
		}
		lines, tests = ofMostFrequent(t.corpus.most, lines, tests)
		p, err := t.part(0, ".tsv", lines, tests)
		return []part{p}, err
	}
	var all []part
	fold := foldsOf(lines)
	for f := range folds {
		var in, out []string
		for i, line := range lines {
			if fold[i] == f {
				out = append(out, line)
			} else {
				in = append(in, line)
			}
		}
		p, err := t.part(f, ".tsv", in, out)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// ofMostFrequent keeps the documents with one label, of the most frequent labels that both parts have; all for
// most 0.
func ofMostFrequent(most int, train, test []string) (_, _ []string) {
	if most == 0 {
		return train, test
	}
	counts := [2]map[string]int{{}, {}}
	for part, lines := range [][]string{train, test} {
		for _, line := range lines {
			if labels := labelsOf(line); len(labels) == 1 {
				counts[part][labels[0]]++
			}
		}
	}
	of := func(name string) int { return counts[0][name] + counts[1][name] }
	var names []string
	for name := range counts[0] {
		if counts[1][name] > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(of(b)-of(a), strings.Compare(a, b)) })
	names = names[:min(most, len(names))]
	kept := func(lines []string) (out []string) {
		for _, line := range lines {
			if labels := labelsOf(line); len(labels) == 1 && slices.Contains(names, labels[0]) {
				out = append(out, line)
			}
		}
		return out
	}
	return kept(train), kept(test)
}

// images writes vectors of the first training images, and of the test images.
func (t *trial) images(ctx context.Context) ([]part, error) {
	var lines [2][]string
	for i, in := range []string{t.corpus.train, t.corpus.test} {
		file := t.File(fmt.Sprintf("images%d.svm", i))
		_, err := t.Execute(ctx, t.Grambench, "corpus", "-q", "-in", filepath.Join(t.Data, in), "-o", file)
		if err != nil {
			return nil, err
		}
		if lines[i], err = peers.ReadLines(file); err != nil {
			return nil, err
		}
	}
	p, err := t.part(0, ".svm", lines[0][:min(t.bench.images, len(lines[0]))], lines[1])
	return []part{p}, err
}

// part writes training and test documents, and the folds of a search.
func (t *trial) part(number int, ending string, train, test []string) (p part, err error) {
	name := func(what string) string { return t.File(fmt.Sprintf("%s%d%s", what, number, ending)) }
	p = part{train: name("train"), test: name("test"), documents: [2]int{len(train), len(test)}}
	var fold []string
	for _, f := range foldsOf(train) {
		fold = append(fold, fmt.Sprint(f))
	}
	for _, line := range test {
		p.truth = append(p.truth, labelsOf(line))
	}
	for file, lines := range map[string][]string{p.train: train, p.test: test, p.train + ".folds": fold} {
		if err = peers.WriteLines(file, lines); err != nil {
			return p, err
		}
	}
	return p, nil
}

// labelsOf reads the labels of a line, of text, of vectors or of predictions.
func labelsOf(line string) []string {
	label, _, _ := strings.Cut(line, "\t")
	label, _, _ = strings.Cut(label, " ")
	if label == "-" || label == "" {
		return nil
	}
	return strings.Split(label, ",")
}

// foldsOf divides documents as gram grid does: by their first label, seed 1.
func foldsOf(lines []string) []int {
	var names []string
	strata := make([]int, len(lines))
	for i, line := range lines {
		first := ""
		if labels := labelsOf(line); len(labels) > 0 {
			first = labels[0]
		}
		at := slices.Index(names, first)
		if at < 0 {
			at = len(names)
			names = append(names, first)
		}
		strata[i] = at
	}
	return solver.Folds(strata, folds, 1)
}
