package repro

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/corpus"
)

// Source is a corpus of the folder of data.
type Source struct {
	Name   string   // its folder
	Files  []string // what has to be in there
	Format corpus.Format
	Form   string // what the files hold
	From   string // where the originals are to be had
}

// textForm is the form of corpora of text.
const textForm = "gzipped UTF-8, one document a line, label<TAB>text, exactly one TAB a line; the label is "

// The corpora that experiments read.
var (
	WebKB = Source{"webkb", []string{"all.tsv.gz"}, corpus.FormatTSV,
		textForm + "class|university, with the classes course, faculty, project and student " +
			"and the universities cornell, texas, washington, wisconsin and misc",
		`the "4 Universities Data Set" of the CMU World Wide Knowledge Base project`}
	Reuters = Source{"reuters-modapte", []string{"train.tsv.gz", "test.tsv.gz"}, corpus.FormatTSV,
		textForm + "the topics separated by commas, such as earn or grain,wheat, " +
			"and - where a story has none; training and test stories of the ModApte split",
		"Reuters-21578, Distribution 1.0 (David D. Lewis), as its LEWISSPLIT and TOPICS attributes say"}
	Newsgroups = Source{"20news-bydate", []string{"train.tsv.gz", "test.tsv.gz"}, corpus.FormatTSV,
		textForm + "the newsgroup",
		"20 Newsgroups, the version sorted by date (Jason Rennie)"}
	MNIST = Source{"mnist", []string{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
		"t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"}, corpus.FormatIDX,
		"gzipped idx files as they are published",
		"the MNIST database of handwritten digits (LeCun, Cortes and Burges)"}
)

// Files returns the paths of all files of corpora in a folder of data, whether they are there or
// not.
func Files(data string) []string {
	var out []string
	for _, s := range []Source{WebKB, Reuters, Newsgroups, MNIST} {
		for _, file := range s.Files {
			out = append(out, filepath.Join(data, s.Name, file))
		}
	}
	return out
}

// MissingError says that a file of a corpus isn't there, and how it would have to be.
type MissingError struct {
	Path   string
	Source Source
}

// Error names the file, its form and where the original is to be had.
func (e *MissingError) Error() string {
	s := &e.Source
	return fmt.Sprintf("%s is missing: expected %s in folder %s of -data, %s; the original is %s", e.Path,
		strings.Join(s.Files, " and "), s.Name, s.Form, s.From)
}

// file returns the path of a file of a corpus, or a [*MissingError].
func (r *Run) file(s Source, file string) (string, error) {
	path := filepath.Join(r.Data, s.Name, file)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return "", &MissingError{path, s}
	}
	return path, err
}

// Require checks that the files of corpora are there, before anything is read.
func (r *Run) Require(sources ...Source) error {
	for _, s := range sources {
		for _, file := range s.Files {
			if _, err := r.file(s, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// Read reads a file of a corpus. It sets Workers, MemoryBytes, Progress and Format of opt itself.
func (r *Run) Read(ctx context.Context, s Source, file string, opt corpus.Options) (*corpus.Corpus, error) {
	path, err := r.file(s, file)
	if err != nil {
		return nil, err
	}
	stage := "reading " + s.Name + "/" + file
	opt.Workers, opt.Format = r.Threads(), s.Format
	opt.Progress = func(p corpus.Progress) { r.Progress(stage, p.Done, p.Total) }
	if r.MemoryBytes > 0 {
		opt.MemoryBytes = r.MemoryBytes / 2 // what follows takes as much again
	}
	return corpus.Read(ctx, path, opt)
}

// ReadNewsgroups reads the training and the test set. Their terms are those of the training set.
func (r *Run) ReadNewsgroups(ctx context.Context, text Preparation) (train, test *corpus.Corpus, err error) {
	s := Newsgroups
	if train, err = r.Read(ctx, s, s.Files[0], corpus.Options{MinDF: text.MinDF}); err != nil {
		return nil, nil, err
	}
	if test, err = r.Read(ctx, s, s.Files[1], corpus.Options{Vocabulary: train.Vocabulary}); err != nil {
		return nil, nil, err
	}
	// No embedding learns the terms that Apply leaves out, so the test set may keep them.
	train, err = text.Apply(train)
	return train, test, err
}

// Hash is the FNV-1a hash of a name, which selects a stream of random numbers.
func Hash(name string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, name)
	return h.Sum64()
}
