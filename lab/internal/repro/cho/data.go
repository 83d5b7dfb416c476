package cho

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
)

type dataset struct {
	name   string
	source *repro.Source // source corpus of the data set; nil if the data set needs no files
	// Numbers of documents; trainCount includes validCount. 0 means all documents or, for
	// validCount, a fifth of the training documents.
	trainCount, validCount, testCount int
	draw                              larochelle.Generator
	background                        backgroundFunc // background of digits; nil for none
	shuffled                          bool           // true if the corpus is split at random
	deslanted                         bool
	families                          []string // kernel families, see variants
}

// backgroundFunc returns a generator of images with the given digits on a background.
type backgroundFunc func(digits *corpus.Corpus, documents []int) larochelle.Generator

func (s *dataset) isGenerated() bool { return s.draw != nil || s.background != nil }

func (s *dataset) isText() bool { return s.source == &repro.Newsgroups }

// datasets lists all data sets. The sizes of generated sets are from Table 2.1 of the thesis.
var datasets = []dataset{
	{name: "mnist", source: &repro.MNIST, trainCount: 60000, validCount: 10000, testCount: 10000},
	{name: "20news-bydate", source: &repro.Newsgroups},
	{name: "20news-random", source: &repro.Newsgroups, shuffled: true},
	{name: "rectangles", trainCount: 1200, validCount: 200, testCount: 50000, draw: larochelle.DrawOutline},
	{name: "rectangles-image", trainCount: 12000, validCount: 2000, testCount: 50000, draw: larochelle.DrawTextured},
	{name: "convex", trainCount: 8000, validCount: 2000, testCount: 50000, draw: larochelle.DrawConvex},
	{name: "mnist-rand", source: &repro.MNIST, trainCount: 12000, validCount: 2000, testCount: 50000,
		background: larochelle.DigitsOnNoise},
	{name: "mnist-image", source: &repro.MNIST, trainCount: 12000, validCount: 2000, testCount: 50000,
		background: larochelle.DigitsOnTexture},
}

// chapter4Families lists the kernel families of chapter 4, which are measured on deslanted digits
// (§4.3.1).
var chapter4Families = []string{familyComposed, familyMixed, familySquare, familyProduct, familyFactors, familyAverage}

// variants returns s with the kernel families to measure. Unless p.Slanted is set, it divides MNIST
// into a set with raw digits and a set with deslanted digits.
func (p *settings) variants(s *dataset) []dataset {
	raw, straight := *s, *s
	raw.families = p.Kernels
	if s.name != repro.MNIST.Name || p.Slanted {
		return []dataset{raw}
	}
	straight.name, straight.deslanted = s.name+"-deslanted", true
	straight.families, raw.families = nil, nil
	for _, family := range p.Kernels {
		if slices.Contains(chapter4Families, family) {
			straight.families = append(straight.families, family)
		} else {
			raw.families = append(raw.families, family)
		}
	}
	return slices.DeleteFunc([]dataset{raw, straight}, func(s dataset) bool { return len(s.families) == 0 })
}

// trainTestSplit is a data set divided into training and test documents with the same terms and
// classes.
type trainTestSplit struct {
	train, test *corpus.Corpus
	fit, valid  []int // indices in train for choosing C: training and validation documents
}

func (d *trainTestSplit) bytes() int64 { return d.train.Documents.Bytes() + d.test.Documents.Bytes() }

func minNonzero(sizes ...int) int {
	return slices.Min(slices.DeleteFunc(sizes, func(n int) bool { return n == 0 }))
}

// read reads or draws s. train and test limit the number of documents; 0 means no limit.
func (s *dataset) read(
	ctx context.Context, r *repro.Env, text repro.TermSettings, train, test int,
) (*trainTestSplit, error) {
	d := &trainTestSplit{}
	origin := strings.TrimSuffix(s.name, "-deslanted")
	var err error
	switch {
	case s.draw != nil:
		err = s.drawImages(ctx, r, d, train, test)
	case s.isText():
		if d.train, d.test, err = r.ReadNewsgroups(ctx, text); err == nil && s.shuffled {
			all := repro.Concat(d.train, d.test)
			n := all.Documents.Rows()
			first, second := sampleIndices(r.Seed, "training of "+s.name, n, n*4/5)
			d.train, d.test = all.Select(first), all.Select(second)
		}
	default:
		if d.train, err = readImages(ctx, r, 0); err == nil {
			d.test, err = readImages(ctx, r, 2)
		}
		if err == nil && s.background != nil {
			err = s.drawOnBackground(ctx, r, d, train, test)
		}
	}
	if err != nil {
		return nil, err
	}
	if !s.isGenerated() {
		d.train = subsample(r, "training of "+origin, d.train, train, s.trainCount)
		d.test = subsample(r, "test of "+origin, d.test, test, s.testCount)
	}
	if s.deslanted {
		d.train, d.test = deslant(d.train), deslant(d.test)
	}
	n, tests := d.train.Documents.Rows(), d.test.Documents.Rows()
	valid := n / 5
	if s.trainCount > 0 {
		valid = int(int64(n) * int64(s.validCount) / int64(s.trainCount))
	}
	if valid < 1 || n-valid < 2 || tests < 1 {
		return nil, fmt.Errorf("%s: too few documents: %d for training, %d for validation, %d for testing", s.name,
			n, valid, tests)
	}
	if s.isText() {
		d.valid, d.fit = sampleIndices(r.Seed, "validation of "+s.name, n, valid)
	} else {
		d.valid, d.fit = lastOfEachClass(d.train, valid)
	}
	return d, nil
}

// lastOfEachClass returns about k documents: the last of each class, in proportion to class size.
// The list others contains all other documents. Both lists are ascending.
func lastOfEachClass(c *corpus.Corpus, k int) (last, others []int) {
	n := c.Documents.Rows()
	left := make([]int, len(c.Classes)) // number of unvisited documents per class
	for i := range n {
		left[c.Labels.Classes(i)[0]]++
	}
	wanted := make([]int, len(left))
	for class, have := range left {
		wanted[class] = int(math.Round(float64(have) * float64(k) / float64(n)))
	}
	for i := range n {
		class := c.Labels.Classes(i)[0]
		if left[class] <= wanted[class] {
			last = append(last, i)
		} else {
			others = append(others, i)
		}
		left[class]--
	}
	return last, others
}

// readImages reads file k of MNIST with its labels.
func readImages(ctx context.Context, r *repro.Env, k int) (*corpus.Corpus, error) {
	files := repro.MNIST.Files
	c, err := r.Read(ctx, repro.MNIST, files[k], corpus.Options{})
	if err == nil && len(c.Labels.IDs) != c.Documents.Rows() {
		return nil, fmt.Errorf("%s has no labels; add %s", c.Source, files[k+1])
	}
	return c, err
}

// sampleIndices draws k distinct integers from 0 to n-1. The list others contains all other
// integers from 0 to n-1. Both lists are ascending.
func sampleIndices(seed uint64, what string, n, k int) (chosen, others []int) {
	in := make([]bool, n)
	for _, i := range rand.New(rand.NewPCG(seed, repro.Hash(what))).Perm(n)[:k] {
		in[i] = true
	}
	for i, chose := range in {
		if chose {
			chosen = append(chosen, i)
		} else {
			others = append(others, i)
		}
	}
	return chosen, others
}

// subsample draws a random sample of c. The sample size is the minimum of the nonzero sizes and the
// number of documents in c.
func subsample(r *repro.Env, what string, c *corpus.Corpus, sizes ...int) *corpus.Corpus {
	have := c.Documents.Rows()
	n := minNonzero(append(sizes, have)...)
	if n == have {
		return c
	}
	chosen, _ := sampleIndices(r.Seed, what, have, n)
	return c.Select(chosen)
}

// drawImages draws the images of the data set s. In the sequence of images, training documents
// begin at image 0, and test documents at image s.trainCount.
func (s *dataset) drawImages(ctx context.Context, r *repro.Env, d *trainTestSplit, train, test int) (err error) {
	n, tests := minNonzero(train, s.trainCount), minNonzero(test, s.testCount)
	from := s.imageSequence(r, n+tests)
	if d.train, err = from.Draw(ctx, s.draw, 0, n); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.draw, s.trainCount, tests)
	return err
}

// imageSequence returns the image sequence of s. n is the number of images to draw, for progress
// reports.
func (s *dataset) imageSequence(r *repro.Env, n int) larochelle.Sequence {
	return larochelle.Sequence{Name: s.name, Seed: r.Seed ^ repro.Hash(s.name),
		OnImage: r.ProgressCounter("drawing "+s.name, n)}
}

// drawOnBackground creates mnist-rand or mnist-image. The training set uses a random sample of
// MNIST's training digits. The test set uses the test digits and the remaining training digits.
func (s *dataset) drawOnBackground(ctx context.Context, r *repro.Env, d *trainTestSplit, train, test int) (err error) {
	digits := d.train
	n := digits.Documents.Rows()
	chosen, others := sampleIndices(r.Seed, "training of "+s.name, n, minNonzero(train, s.trainCount, n))
	rest := repro.Concat(d.test, digits.Select(others))
	tests := rest.Documents.Rows()
	tested, _ := sampleIndices(r.Seed, "test of "+s.name, tests, minNonzero(test, s.testCount, tests))
	from := s.imageSequence(r, len(chosen)+len(tested))
	if d.train, err = from.Draw(ctx, s.background(digits, chosen), 0, len(chosen)); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.background(rest, tested), n, len(tested))
	return err
}
