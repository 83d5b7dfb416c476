package repro

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/sparse"
)

// Source is a corpus in the data folder.
type Source struct {
	Name        string // name of the corpus folder
	Files       []string
	Format      corpus.Format
	Description string // description of the files
}

var (
	WebKB = Source{"webkb", []string{"all.tsv.gz"}, corpus.FormatTSV, "a line class|university<TAB>text for each page " +
		"of the 4 Universities data set (CMU)"}
	Reuters = Source{"reuters-modapte", []string{"train.tsv.gz", "test.tsv.gz"}, corpus.FormatTSV,
		"a line topics<TAB>text for each story of Reuters-21578, ModApte split; topics are separated by commas, - means none"}
	Newsgroups = Source{"20news-bydate", []string{"train.tsv.gz", "test.tsv.gz"}, corpus.FormatTSV,
		"a line newsgroup<TAB>text for each article of 20 Newsgroups, split by date"}
	MNIST = Source{"mnist", []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
		"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}, corpus.FormatIDX, "the idx files of MNIST"}
)

// CorpusFiles returns the paths of all files of all corpora in the folder data.
func CorpusFiles(data string) (paths []string) {
	for _, s := range []Source{WebKB, Reuters, Newsgroups, MNIST} {
		for _, file := range s.Files {
			paths = append(paths, filepath.Join(data, s.Name, file))
		}
	}
	return paths
}

// Require returns an error if a file of the corpus is missing.
func (r *Env) Require(s Source) error {
	if r.DataDir == "" {
		return cli.Usagef("-data DIR is required; DIR must contain %s", s.Name)
	}
	for _, file := range s.Files {
		path := filepath.Join(r.DataDir, s.Name, file)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing; it must have %s", path, s.Description)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (r *Env) Read(ctx context.Context, s Source, file string, opt corpus.Options) (*corpus.Corpus, error) {
	stage := "reading " + s.Name + "/" + file
	opt.Workers, opt.Format = r.NumWorkers(), s.Format
	opt.Progress = func(p corpus.Progress) { r.ReportProgress(stage, p.Done, p.Total) }
	opt.MemoryBytes = r.MemoryBytes / 2 // the experiment needs the other half
	return corpus.Read(ctx, filepath.Join(r.DataDir, s.Name, file), opt)
}

// readText reads a file of texts, without terms that occur in fewer than minDF documents.
func (r *Env) readText(ctx context.Context, s Source, file int, t TermSettings, minDF int) (*corpus.Corpus, error) {
	return r.Read(ctx, s, s.Files[file], corpus.Options{MinDF: minDF, Tokenizer: corpus.Tokenizer{Digits: t.Digits}})
}

// ReadWebKB reads WebKB, whose labels are class|university. It returns the corpus with classes as
// labels, and the university of each document.
func (r *Env) ReadWebKB(ctx context.Context, t TermSettings) (c *corpus.Corpus, universities []string, err error) {
	if t.StopWords == RainbowStopWords {
		t.StopWords = NoStopWords
	}
	if c, err = r.readText(ctx, WebKB, 0, t, 1); err != nil {
		return nil, nil, err
	}
	pages := *t.Apply(c)
	pages.Classes, pages.Labels = nil, sparse.Labels{}
	for i := range c.Documents.Rows() {
		ids := c.Labels.Classes(i)
		if len(ids) != 1 || strings.Count(c.Classes[ids[0]], "|") != 1 {
			return nil, nil, fmt.Errorf("%s:%d: each page needs one label of the form class|university", c.Source, i+1)
		}
		class, university, _ := strings.Cut(c.Classes[ids[0]], "|")
		universities = append(universities, university)
		k := slices.Index(pages.Classes, class)
		if k < 0 {
			k, pages.Classes = len(pages.Classes), append(pages.Classes, class)
		}
		pages.Labels.Add(int32(k))
	}
	return &pages, universities, nil
}

// ReadReuters reads the ModApte split of Reuters-21578. The first n documents of c are the training
// stories, and the others are the test stories.
func (r *Env) ReadReuters(ctx context.Context, t TermSettings) (c *corpus.Corpus, n int, err error) {
	train, err := r.readText(ctx, Reuters, 0, t, 1)
	if err != nil {
		return nil, 0, err
	}
	test, err := r.readText(ctx, Reuters, 1, t, 1)
	if err != nil {
		return nil, 0, err
	}
	return t.Apply(Concat(train, test)), train.Documents.Rows(), nil
}

// ReadNewsgroups reads the training and the test set of 20 Newsgroups, with the vocabulary of the
// training set.
func (r *Env) ReadNewsgroups(ctx context.Context, t TermSettings) (train, test *corpus.Corpus, err error) {
	if train, err = r.readText(ctx, Newsgroups, 0, t, t.MinDF); err != nil {
		return nil, nil, err
	}
	opt := corpus.Options{Vocabulary: train.Vocabulary, Tokenizer: corpus.Tokenizer{Digits: t.Digits}}
	if test, err = r.Read(ctx, Newsgroups, Newsgroups.Files[1], opt); err != nil {
		return nil, nil, err
	}
	// The test set needs no Apply, because embeddings ignore terms without training documents.
	return t.Apply(train), test, nil
}

// HasClass reports whether document i of c has the class with the given name.
func HasClass(c *corpus.Corpus, i int, class string) bool {
	return slices.ContainsFunc(c.Labels.Classes(i), func(id int32) bool { return c.Classes[id] == class })
}

// Hash returns the FNV-1a hash of a name, for use as a random seed.
func Hash(name string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, name)
	return h.Sum64()
}

// SplitByClass returns the documents docs[i] with positive[i] in own, and the other documents in
// others. seed and name determine the order of both lists.
func SplitByClass(seed uint64, name string, docs []int, positive []bool) (own, others []int) {
	for i, d := range docs {
		if positive[i] {
			own = append(own, d)
		} else {
			others = append(others, d)
		}
	}
	r := rand.New(rand.NewPCG(seed, Hash(name)))
	for _, docs := range [][]int{own, others} {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return own, others
}
