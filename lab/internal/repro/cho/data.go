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

// set describes a data set of an experiment.
type set struct {
	name               string
	source             *repro.Source // corpus of the set; nil if the set needs no files
	train, valid, test int           // numbers of documents; train includes valid; 0: all (valid: a fifth of train)
	draw               larochelle.Kind
	ground             ground // background of digits; nil for none
	shuffled           bool   // true for a random split into training and test set
	deslanted          bool
	families           []string // kernel families, see parts
}

// ground returns a kind of images: digits on a background.
type ground func(digits *corpus.Corpus, documents []int) larochelle.Kind

func (s *set) generated() bool { return s.draw != nil || s.ground != nil }

func (s *set) text() bool { return s.source == &repro.Newsgroups }

// sets lists all data sets. The sizes of generated sets are from Table 2.1 of the thesis.
var sets = []set{
	{name: "mnist", source: &repro.MNIST, train: 60000, valid: 10000, test: 10000},
	{name: "20news-bydate", source: &repro.Newsgroups},
	{name: "20news-random", source: &repro.Newsgroups, shuffled: true},
	{name: "rectangles", train: 1200, valid: 200, test: 50000, draw: larochelle.Outline},
	{name: "rectangles-image", train: 12000, valid: 2000, test: 50000, draw: larochelle.Textured},
	{name: "convex", train: 8000, valid: 2000, test: 50000, draw: larochelle.Convex},
	{name: "mnist-rand", source: &repro.MNIST, train: 12000, valid: 2000, test: 50000, ground: larochelle.OnNoise},
	{name: "mnist-image", source: &repro.MNIST, train: 12000, valid: 2000, test: 50000, ground: larochelle.OnTexture},
}

// chapter4 lists the kernel families of chapter 4, which are measured on deslanted digits (§4.3.1).
var chapter4 = []string{composed, mixed, square, product, factors, average}

// parts returns s with the kernel families to measure. It replaces MNIST by two sets, one with raw
// digits and one with deslanted digits.
func (p *settings) parts(s *set) []set {
	raw, straight := *s, *s
	raw.families = p.Kernels
	if s.name != repro.MNIST.Name || p.Slanted {
		return []set{raw}
	}
	straight.name, straight.deslanted = s.name+"-deslanted", true
	straight.families, raw.families = nil, nil
	for _, family := range p.Kernels {
		if slices.Contains(chapter4, family) {
			straight.families = append(straight.families, family)
		} else {
			raw.families = append(raw.families, family)
		}
	}
	return slices.DeleteFunc([]set{raw, straight}, func(s set) bool { return len(s.families) == 0 })
}

// data is a set divided into training and test documents with the same terms and classes.
type data struct {
	train, test *corpus.Corpus
	fit, valid  []int // indices in train for choosing C: training and validation documents
}

func (d *data) bytes() int64 { return d.train.Documents.Bytes() + d.test.Documents.Bytes() }

// less returns the minimum of the sizes that aren't 0.
func less(sizes ...int) int {
	return slices.Min(slices.DeleteFunc(sizes, func(n int) bool { return n == 0 }))
}

// read reads or draws a set. train and test are the maximum numbers of documents; 0 means no limit.
func (s *set) read(ctx context.Context, r *repro.Run, text repro.Terms, train, test int) (*data, error) {
	d := &data{}
	origin := strings.TrimSuffix(s.name, "-deslanted")
	var err error
	switch {
	case s.draw != nil:
		err = s.drawImages(ctx, r, d, train, test)
	case s.text():
		if d.train, d.test, err = r.ReadNewsgroups(ctx, text); err == nil && s.shuffled {
			all := repro.Concat(d.train, d.test)
			n := all.Documents.Rows()
			first, second := draw(r.Seed, "training of "+s.name, n, n*4/5)
			d.train, d.test = all.Select(first), all.Select(second)
		}
	default:
		if d.train, err = readImages(ctx, r, 0); err == nil {
			d.test, err = readImages(ctx, r, 2)
		}
		if err == nil && s.ground != nil {
			err = s.putOnGround(ctx, r, d, train, test)
		}
	}
	if err != nil {
		return nil, err
	}
	if !s.generated() {
		d.train = cut(r, "training of "+origin, d.train, train, s.train)
		d.test = cut(r, "test of "+origin, d.test, test, s.test)
	}
	if s.deslanted {
		d.train, d.test = deslant(d.train), deslant(d.test)
	}
	n, tests := d.train.Documents.Rows(), d.test.Documents.Rows()
	valid := n / 5
	if s.train > 0 {
		valid = int(int64(n) * int64(s.valid) / int64(s.train))
	}
	if valid < 1 || n-valid < 2 || tests < 1 {
		return nil, fmt.Errorf("%s: too few documents: %d for training, %d for validation, %d for testing", s.name,
			n, valid, tests)
	}
	if s.text() {
		d.valid, d.fit = draw(r.Seed, "validation of "+s.name, n, valid)
	} else {
		d.valid, d.fit = lastOfEach(d.train, valid)
	}
	return d, nil
}

// lastOfEach returns the last documents of each class, in proportion to class size and about k in
// total. It also returns the other documents. Both lists are ascending.
func lastOfEach(c *corpus.Corpus, k int) (last, others []int) {
	n := c.Documents.Rows()
	left := make([]int, len(c.Classes)) // number of unvisited documents per class
	for i := range n {
		left[c.Labels.Of(i)[0]]++
	}
	wanted := make([]int, len(left))
	for class, have := range left {
		wanted[class] = int(math.Round(float64(have) * float64(k) / float64(n)))
	}
	for i := range n {
		class := c.Labels.Of(i)[0]
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
func readImages(ctx context.Context, r *repro.Run, k int) (*corpus.Corpus, error) {
	files := repro.MNIST.Files
	c, err := r.Read(ctx, repro.MNIST, files[k], corpus.Options{})
	if err == nil && len(c.Labels.IDs) != c.Documents.Rows() {
		return nil, fmt.Errorf("%s has no labels; add %s", c.Source, files[k+1])
	}
	return c, err
}

// draw draws k distinct integers from 0 to n-1. It also returns the other integers in this range.
// Both lists are ascending.
func draw(seed uint64, what string, n, k int) (chosen, others []int) {
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

// cut draws a random sample of c. The sample size is the minimum of the nonzero sizes.
func cut(r *repro.Run, what string, c *corpus.Corpus, sizes ...int) *corpus.Corpus {
	have := c.Documents.Rows()
	n := less(append(sizes, have)...)
	if n == have {
		return c
	}
	chosen, _ := draw(r.Seed, what, have, n)
	return c.Select(chosen)
}

// drawImages draws the images of a set. In the sequence of images, training documents begin at
// image 0, and test documents at image s.train.
func (s *set) drawImages(ctx context.Context, r *repro.Run, d *data, train, test int) (err error) {
	n, tests := less(train, s.train), less(test, s.test)
	from := s.sequence(r, n+tests)
	if d.train, err = from.Draw(ctx, s.draw, 0, n); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.draw, s.train, tests)
	return err
}

// sequence returns the sequence of images of a set. n is the number of images to draw, for progress
// reports.
func (s *set) sequence(r *repro.Run, n int) larochelle.Sequence {
	return larochelle.Sequence{Name: s.name, Seed: r.Seed ^ repro.Hash(s.name), Step: r.Counter("drawing "+s.name, n)}
}

// putOnGround creates mnist-rand or mnist-image. The training set uses a random sample of MNIST's
// training digits. The test set uses the test digits and the remaining training digits.
func (s *set) putOnGround(ctx context.Context, r *repro.Run, d *data, train, test int) (err error) {
	digits := d.train
	n := digits.Documents.Rows()
	chosen, others := draw(r.Seed, "training of "+s.name, n, less(train, s.train, n))
	rest := repro.Concat(d.test, digits.Select(others))
	tests := rest.Documents.Rows()
	tested, _ := draw(r.Seed, "test of "+s.name, tests, less(test, s.test, tests))
	from := s.sequence(r, len(chosen)+len(tested))
	if d.train, err = from.Draw(ctx, s.ground(digits, chosen), 0, len(chosen)); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.ground(rest, tested), n, len(tested))
	return err
}
