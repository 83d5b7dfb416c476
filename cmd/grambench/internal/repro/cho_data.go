package repro

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/gramengine/gram/sparse"
)

// choSet is a set of documents.
type choSet struct {
	name               string
	source             *Source // what is read for it; nil where it is drawn only
	train, valid, test int     // documents; valid of train are the validation set, all 0 for what the files have, and a sixth
	generated          bool
	text               bool
	draw               imageKind // of a set that is drawn only
}

// choSets are the sets with their sizes: those of the generated ones are the sizes of Larochelle et al. 2007.
var choSets = []choSet{
	{name: "mnist", source: &MNIST, train: 60000, valid: 10000, test: 10000},
	{name: "20news-bydate", source: &Newsgroups, text: true},
	{name: "rectangles", train: 1200, valid: 200, test: 50000, generated: true, draw: outline},
	{name: "rectangles-image", train: 12000, valid: 2000, test: 50000, generated: true, draw: texturedRectangle},
	{name: "convex", train: 8000, valid: 1000, test: 50000, generated: true, draw: convexity},
	{name: "mnist-rand", source: &MNIST, train: 12000, valid: 2000, test: 50000, generated: true},
}

// choSetNames lists the names.
func choSetNames() []string {
	var names []string
	for _, s := range choSets {
		names = append(names, s.name)
	}
	return names
}

// choData is a set as it is trained and tested on; terms and classes of its parts are numbered alike.
type choData struct {
	train, test *sparse.Corpus
	fit, valid  []int // documents of train, in their order: those that C is tried with, and those that judge it
}

// bytes is what the corpora take.
func (d *choData) bytes() int64 { return d.train.Documents.Bytes() + d.test.Documents.Bytes() }

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
func (p *choProtocol) read(ctx context.Context, r *Run, s *choSet) (*choData, error) {
	d := &choData{}
	var err error
	switch {
	case s.draw != nil:
		err = p.drawSet(ctx, r, s, d)
	case s.text:
		if d.train, d.test, err = r.readNewsgroups(ctx, p.text); err == nil {
			p.cut(r, s, d)
		}
	default:
		if d.train, err = r.readImages(ctx, MNIST, 0); err != nil {
			return nil, err
		}
		if d.test, err = r.readImages(ctx, MNIST, 2); err != nil {
			return nil, err
		}
		if s.generated {
			err = p.putOnNoise(ctx, r, s, d)
		} else {
			p.cut(r, s, d)
		}
	}
	if err != nil {
		return nil, err
	}
	n := d.train.Documents.Rows()
	if p.centred && !s.text && n > 0 {
		if err := r.Fits("centring "+s.name, 16*int64(n+d.test.Documents.Rows())*int64(d.train.Documents.Cols)); err != nil {
			return nil, err
		}
		d.centre()
	}
	valid := n / 6
	if s.train > 0 {
		valid = int(int64(n) * int64(s.valid) / int64(s.train))
	}
	if valid < 1 || n-valid < 2 || d.test.Documents.Rows() < 1 {
		return nil, fmt.Errorf("%s: %d documents for training, %d of them for validation, and %d for testing are too few", s.name, n, valid, d.test.Documents.Rows())
	}
	d.valid, d.fit = choose(r.Seed, "validation of "+s.name, n, valid)
	return d, nil
}

// choose draws k of n numbers; both lists are in ascending order.
func choose(seed uint64, what string, n, k int) (chosen, others []int) {
	order := rand.New(rand.NewPCG(seed, hashOf(what))).Perm(n)
	in := make([]bool, n)
	for _, i := range order[:k] {
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

// hashOf is FNV-1a, which makes a stream of random numbers of a name.
func hashOf(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}

// cut leaves the documents that the flags ask for.
func (p *choProtocol) cut(r *Run, s *choSet, d *choData) {
	for _, part := range []struct {
		name      string
		of        **sparse.Corpus
		flag, own int
	}{{"training", &d.train, p.train, s.train}, {"test", &d.test, p.test, s.test}} {
		have := (*part.of).Documents.Rows()
		if n := less(part.flag, part.own, have); n < have {
			chosen, _ := choose(r.Seed, part.name+" of "+s.name, have, n)
			*part.of = (*part.of).Select(chosen)
		}
	}
}

// drawSet draws a set: first the training documents of a sequence, from the same place on the test documents, however many there are of either.
func (p *choProtocol) drawSet(ctx context.Context, r *Run, s *choSet, d *choData) (err error) {
	train, test := less(p.train, s.train, s.train), less(p.test, s.test, s.test)
	seed := r.Seed ^ hashOf(s.name)
	step := r.Counter("drawing "+s.name, 0, int64(train+test))
	if d.train, err = drawImages(ctx, s.name, s.draw, seed, 0, train, step); err != nil {
		return err
	}
	d.test, err = drawImages(ctx, s.name, s.draw, seed, s.train, test, step)
	return err
}

// putOnNoise makes mnist-rand: random training digits become its training set; the others, behind the test digits, its test set.
func (p *choProtocol) putOnNoise(ctx context.Context, r *Run, s *choSet, d *choData) error {
	rest := len(d.train.Labels.IDs)
	chosen, others := choose(r.Seed, "training of "+s.name, rest, less(p.train, s.train, rest))
	atTest := less(p.test, s.test, d.test.Documents.Rows()+len(others))
	fromTest := min(atTest, d.test.Documents.Rows())
	seed := r.Seed ^ hashOf(s.name)
	step := r.Counter("drawing "+s.name, 0, int64(len(chosen)+atTest))
	digits := d.train
	var err error
	if d.train, err = drawImages(ctx, s.name, onNoise(digits, chosen), seed, 0, len(chosen), step); err != nil {
		return err
	}
	own := make([]int, fromTest)
	for i := range own {
		own[i] = i
	}
	test, err := drawImages(ctx, s.name, onNoise(d.test, own), seed, rest, fromTest, step)
	if err != nil {
		return err
	}
	more, err := drawImages(ctx, s.name, onNoise(digits, others[:atTest-fromTest]), seed, rest+fromTest, atTest-fromTest, step)
	if err != nil {
		return err
	}
	d.test = behind(test, more)
	return nil
}

// behind returns the documents of two corpora of the same columns, one behind the other.
func behind(a, b *sparse.Corpus) *sparse.Corpus {
	class := map[string]int32{}
	for id, name := range a.Classes {
		class[name] = int32(id)
	}
	m := a.Documents
	for i := range b.Documents.Rows() {
		terms, values := b.Documents.Row(i)
		m.Terms, m.Values = append(m.Terms, terms...), append(m.Values, values...)
		m.Offsets = append(m.Offsets, int64(len(m.Values)))
		name := b.Classes[b.Labels.Of(i)[0]]
		id, ok := class[name]
		if !ok {
			id = int32(len(a.Classes))
			class[name], a.Classes = id, append(a.Classes, name)
		}
		a.Labels.Add(id)
	}
	return a
}

// readImages reads file number k of a corpus of images, with the labels beside it.
func (r *Run) readImages(ctx context.Context, s Source, k int) (*sparse.Corpus, error) {
	path, err := r.File(s, s.Files[k])
	if err != nil {
		return nil, err
	}
	stage := "reading " + s.Name + "/" + s.Files[k]
	opt := sparse.Options{Workers: r.Threads(), Format: sparse.FormatIDX, Progress: func(p sparse.Progress) { r.Progress(stage, p.Done, p.Total) }}
	if r.MemoryBytes > 0 {
		opt.MemoryBytes = r.MemoryBytes / 2
	}
	c, err := sparse.Read(ctx, path, opt)
	if err == nil && len(c.Labels.IDs) != c.Documents.Rows() {
		return nil, fmt.Errorf("%s: no labels beside the images, expected %s", path, s.Files[k+1])
	}
	return c, err
}
