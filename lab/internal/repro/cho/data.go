package cho

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

// set is a set of documents.
type set struct {
	name               string
	source             *repro.Source // what is read for it; nil where it is drawn only
	train, valid, test int           // documents; valid of train validate; all 0 for what the files have, and a fifth
	generated, text    bool
	draw               larochelle.Kind // of a set that is drawn only
	ground             ground          // of digits on something
	shuffled           bool            // training and test documents are divided anew
	deslanted          bool            // MNIST as chapter 4 has it
	families           []string        // of kernels that are measured on it; see parts
}

// ground puts the digits of a corpus on something.
type ground func(digits *corpus.Corpus, documents []int) larochelle.Kind

// sets are the sets. The sizes of the generated ones are those of Table 2.1 of the thesis.
var sets = []set{
	{name: "mnist", source: &repro.MNIST, train: 60000, valid: 10000, test: 10000},
	{name: "20news-bydate", source: &repro.Newsgroups, text: true},
	{name: "20news-random", source: &repro.Newsgroups, text: true, shuffled: true},
	{name: "rectangles", train: 1200, valid: 200, test: 50000, generated: true, draw: larochelle.Outline},
	{name: "rectangles-image", train: 12000, valid: 2000, test: 50000, generated: true, draw: larochelle.Textured},
	{name: "convex", train: 8000, valid: 2000, test: 50000, generated: true, draw: larochelle.Convex},
	{name: "mnist-rand", source: &repro.MNIST, train: 12000, valid: 2000, test: 50000, generated: true,
		ground: larochelle.OnNoise},
	{name: "mnist-image", source: &repro.MNIST, train: 12000, valid: 2000, test: 50000, generated: true,
		ground: larochelle.OnTexture},
}

// deslantedFamilies are the families of chapter 4, whose digits are deslanted (§4.3.1).
var deslantedFamilies = []string{composed, mixed, square, product, factors, average}

// parts returns a set with the families of kernels that are measured on it: MNIST in two parts, raw
// and deslanted, where there are families for both. The same documents are drawn for both.
func (p *protocol) parts(s *set) []set {
	whole := *s
	whole.families = p.families.Chosen
	if s.source != &repro.MNIST || s.generated || p.slanted {
		return []set{whole}
	}
	straight := whole
	straight.name, straight.deslanted = s.name+"-deslanted", true
	straight.families, whole.families = nil, nil
	for _, family := range p.families.Chosen {
		to := &whole
		if slices.Contains(deslantedFamilies, family) {
			to = &straight
		}
		to.families = append(to.families, family)
	}
	return slices.DeleteFunc([]set{whole, straight}, func(s set) bool { return len(s.families) == 0 })
}

// data is a set as it is trained and tested on. Its parts number terms and classes alike.
type data struct {
	train, test *corpus.Corpus
	fit, valid  []int // documents of train, increasing: those that C is tried with, those that judge it
}

// bytes is what the corpora take.
func (d *data) bytes() int64 { return d.train.Documents.Bytes() + d.test.Documents.Bytes() }

// less is a size that a flag bounds, and that can't be above what is there.
func less(flag, own, have int) int {
	if flag > 0 && flag < own || own == 0 {
		own = flag
	}
	if own == 0 || own > have {
		own = have
	}
	return own
}

// read reads or draws a set, in the sizes that the flags leave.
func (p *protocol) read(ctx context.Context, r *repro.Run, s *set) (*data, error) {
	d := &data{}
	origin := s.name // the same documents are drawn of it, deslanted or not
	if s.deslanted {
		origin = strings.TrimSuffix(origin, "-deslanted")
	}
	var err error
	switch {
	case s.draw != nil:
		err = p.draw(ctx, r, s, d)
	case s.text:
		if d.train, d.test, err = r.ReadNewsgroups(ctx, p.text); err == nil && s.shuffled {
			all := repro.Concat(d.train, d.test)
			n := all.Documents.Rows()
			train, test := choose(r.Seed, "training of "+s.name, n, n*4/5)
			d.train, d.test = all.Select(train), all.Select(test)
		}
	default:
		if d.train, err = readImages(ctx, r, 0); err == nil {
			d.test, err = readImages(ctx, r, 2)
		}
		if err == nil && s.generated {
			err = p.putOnGround(ctx, r, s, d)
		}
	}
	if err != nil {
		return nil, err
	}
	if !s.generated {
		cut(r, "training of "+origin, &d.train, p.train, s.train)
		cut(r, "test of "+origin, &d.test, p.test, s.test)
	}
	if s.deslanted {
		d.train, d.test = deslant(d.train), deslant(d.test)
	}
	n, tests := d.train.Documents.Rows(), d.test.Documents.Rows()
	if p.centred && !s.text && n > 0 {
		if err := r.Fits("centring "+s.name, 16*int64(n+tests)*int64(d.train.Documents.Cols)); err != nil {
			return nil, err
		}
		d.centre()
	}
	valid := n / 5
	if s.train > 0 {
		valid = int(int64(n) * int64(s.valid) / int64(s.train))
	}
	if valid < 1 || n-valid < 2 || tests < 1 {
		return nil, fmt.Errorf("%s: %d documents for training, %d for validation, %d for testing are too few", s.name,
			n, valid, tests)
	}
	if s.text {
		d.valid, d.fit = choose(r.Seed, "validation of "+s.name, n, valid)
	} else {
		d.valid, d.fit = lastOfEach(d.train, valid)
	}
	return d, nil
}

// lastOfEach divides documents: the last of each class, in proportion and k altogether but for
// rounding, and the others. Both lists are increasing.
func lastOfEach(c *corpus.Corpus, k int) (last, others []int) {
	n := c.Documents.Rows()
	left := make([]int, len(c.Classes)) // of each class
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

// readImages reads file number k of MNIST, with the labels beside it.
func readImages(ctx context.Context, r *repro.Run, k int) (*corpus.Corpus, error) {
	files := repro.MNIST.Files
	c, err := r.Read(ctx, repro.MNIST, files[k], corpus.Options{})
	if err == nil && len(c.Labels.IDs) != c.Documents.Rows() {
		return nil, fmt.Errorf("%s: no labels beside the images, expected %s", c.Source, files[k+1])
	}
	if err == nil && c.Documents.Cols != larochelle.Pixels {
		return nil, fmt.Errorf("%s: images of %d pixels, expected %d×%d", c.Source, c.Documents.Cols,
			larochelle.Side, larochelle.Side)
	}
	return c, err
}

// choose draws k of n numbers. Both lists are increasing.
func choose(seed uint64, what string, n, k int) (chosen, others []int) {
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

// cut draws, by the name what, the documents that a flag or the set's own size leave.
func cut(r *repro.Run, what string, part **corpus.Corpus, flag, own int) {
	have := (*part).Documents.Rows()
	if n := less(flag, own, have); n < have {
		chosen, _ := choose(r.Seed, what, have, n)
		*part = (*part).Select(chosen)
	}
}

// draw draws a set: first the training documents of a sequence, from the same place on the test
// documents, however many there are of either.
func (p *protocol) draw(ctx context.Context, r *repro.Run, s *set, d *data) (err error) {
	train, test := less(p.train, s.train, s.train), less(p.test, s.test, s.test)
	from := drawing(r, s, train+test)
	if d.train, err = from.Draw(ctx, s.draw, 0, train); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.draw, s.train, test)
	return err
}

// drawing is the sequence of a set, of which so many images will be drawn.
func drawing(r *repro.Run, s *set, images int) larochelle.Sequence {
	return larochelle.Sequence{
		Name: s.name, Seed: r.Seed ^ repro.Hash(s.name), Step: r.Counter("drawing "+s.name, 0, int64(images)),
	}
}

// putOnGround makes mnist-rand and mnist-image. Random training digits become the training set; the
// test set is drawn from the test digits and the other training digits.
func (p *protocol) putOnGround(ctx context.Context, r *repro.Run, s *set, d *data) (err error) {
	digits, tests := d.train, d.test
	n := digits.Documents.Rows()
	chosen, others := choose(r.Seed, "training of "+s.name, n, less(p.train, s.train, n))
	rest := repro.Concat(tests, digits.Select(others))
	tested, _ := choose(r.Seed, "test of "+s.name, rest.Documents.Rows(),
		less(p.test, s.test, rest.Documents.Rows()))
	from := drawing(r, s, len(chosen)+len(tested))
	if d.train, err = from.Draw(ctx, s.ground(digits, chosen), 0, len(chosen)); err != nil {
		return err
	}
	d.test, err = from.Draw(ctx, s.ground(rest, tested), n, len(tested))
	return err
}

// centre subtracts from each pixel its mean over the training documents, in both parts. Almost all
// values are stored then, which makes a digit five times as long: 8 bytes a pixel and document.
func (d *data) centre() {
	m := d.train.Documents
	mean := make([]float64, m.Cols)
	for k, t := range m.Terms {
		mean[t] += float64(m.Values[k]) / float64(m.Rows())
	}
	for _, part := range []**corpus.Corpus{&d.train, &d.test} {
		from := (*part).Documents
		n := from.Rows() * from.Cols
		to := &sparse.CSR{
			Cols: from.Cols, Offsets: make([]int64, 1, from.Rows()+1),
			Terms: make([]uint32, 0, n), Values: make([]float32, 0, n),
		}
		row := make([]float64, from.Cols)
		for i := range from.Rows() {
			floats.ScaleTo(row, -1, mean)
			terms, values := from.Row(i)
			for k, t := range terms {
				row[t] += float64(values[k])
			}
			for t, v := range row {
				if v != 0 {
					to.Terms, to.Values = append(to.Terms, uint32(t)), append(to.Values, float32(v))
				}
			}
			to.Offsets = append(to.Offsets, int64(len(to.Values)))
		}
		c := **part
		c.Documents = to
		*part = &c
	}
}
