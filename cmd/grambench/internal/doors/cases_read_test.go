package doors

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// file writes a source and returns its name.
func (p *program) file(name, text string) string {
	dir, err := os.MkdirTemp("", "doors")
	if err != nil {
		panic(err)
	}
	p.wait = append(p.wait, func() { os.RemoveAll(dir) })
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return name
}

// read tries options and sources; what is in the sources is tried by FuzzReadSVMLight, FuzzReadTSV,
// FuzzReadMatrixMarket and FuzzReadIDX.
func read(p *program) {
	source := pick(p, p.file("a.svm", "1 1:2 3:4\n-1 2:1\n"), p.file("a.tsv", "x\ta b a\ny\tb c\n"),
		p.file("a.svm", ""), p.file("a.tsv", "\n"),
		"synthetic:docs=5,terms=9,length=4,classes=2", "synthetic:docs=1,terms=1,length=1,classes=1")
	p.any(source, func() error {
		c, err := sparse.Read(p.ctx, source, sparse.Options{})
		if err == nil {
			err = c.Documents.Validate()
		}
		return err
	})
	opt := sparse.Options{Format: pick(p, "", sparse.FormatTSV, sparse.FormatSVMLight, "nonsense"),
		Workers: pick(p, -1, 0, 3, math.MinInt), MinDF: p.odd(), MaxDF: p.odd(),
		MaxLineBytes: p.odd(), MemoryBytes: int64(p.odd()), Groups: p.chance(2), Signed: p.chance(2),
		Vocabulary: pick(p, nil, []string{}, []string{"a", "a"}, []string{"a", "b"})}
	p.any(fmt.Sprintf("%s with %+v", source, opt), func() error {
		c, err := sparse.Read(p.ctx, source, opt)
		if err == nil {
			err = c.Documents.Validate()
		}
		return err
	})
	for _, none := range []string{"", "/nowhere", "synthetic:docs=-1", "synthetic:docs=99999999999999999999",
		"synthetic:x", "synthetic:docs=0,terms=0,length=0,classes=0"} {
		p.bad(none, func() error {
			_, err := sparse.Read(p.ctx, none, sparse.Options{MemoryBytes: 1 << 24})
			return err
		})
	}
}

func readProgress(p *program) {
	source := p.file("a.svm", "1 1:2 3:4\n-1 2:1\n")
	p.bad("that panics", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{Progress: func(sparse.Progress) { panic(ownPanic) }})
		return err
	})
}

// oddText draws bytes that a reader may meet.
func (p *program) oddText() string {
	return pick(p, "", "\n", "a\tb\n", "1 1:2\n", "label,text\na,\"b\n", `{"text":"a"}`,
		"\x00", "\xff\xfea\x00", "\x1f\x8b", "\"", "a,b,c\n1,2,3\n",
		"%%MatrixMarket matrix coordinate real general\n1 1 0\n", "\x00\x00\x08\x02")
}

// oddOptions draws options of text.
func (p *program) oddOptions() sparse.Options {
	return sparse.Options{
		Format: pick(p, "", sparse.FormatTSV, sparse.FormatCSV, sparse.FormatJSONL, sparse.FormatLines,
			sparse.FormatFolder, "nonsense"),
		Encoding:     pick(p, "", "utf-16", "latin-1", "shift_jis", "nonsense"),
		Strict:       p.chance(2),
		LabelColumn:  pick(p, "", "1", "-1", "99999999999999999999", "label", "x"),
		TextColumn:   pick(p, "", "1", "2", "0", "text"),
		LabelKey:     pick(p, "", "x"),
		TextKey:      pick(p, "", "text"),
		Labels:       pick(p, "", "", "/nowhere"),
		MaxLineBytes: p.odd(),
		MemoryBytes:  int64(p.odd()),
		Workers:      pick(p, 0, 1, 3, -1),
		Tokenizer:    pick(p, sparse.Tokenizer{}, sparse.Tokenizer{MinN: 1, MaxN: 2}, p.oddTokenizer()),
	}
}

func readFrom(p *program) {
	for range 20 {
		text, opt := p.oddText(), p.oddOptions()
		p.any(fmt.Sprintf("%q with %+v", text, opt), func() error {
			c, err := sparse.ReadFrom(p.ctx, strings.NewReader(text), pick(p, "", "-", "a.csv", "a.txt"), opt)
			if err == nil {
				err = c.Validate()
			}
			return err
		})
	}
	p.bad("nil", func() error { _, err := sparse.ReadFrom(p.ctx, nil, "-", sparse.Options{}); return err })
}

func fromTexts(p *program) {
	for range 20 {
		list := make([]string, p.IntN(4))
		for i := range list {
			list[i] = p.oddText()
		}
		labels, opt := pick(p, nil, list, []string{"a"}, []string{"a", "b,", "-"}), p.oddOptions()
		p.any(fmt.Sprintf("%q, %q with %+v", list, labels, opt), func() error {
			c, err := sparse.FromTexts(p.ctx, list, labels, opt)
			if err == nil {
				err = c.Validate()
			}
			return err
		})
	}
	p.bad("none", func() error { _, err := sparse.FromTexts(p.ctx, nil, nil, sparse.Options{}); return err })
}

func tokenizerLater(p *program) {
	source := p.file("a.tsv", "x\ta b a\ny\tb c\n")
	for call, later := range map[string]func() (sparse.Tokenizer, error){
		"that fails":        func() (sparse.Tokenizer, error) { return sparse.Tokenizer{}, errors.New("none: none") },
		"that panics":       func() (sparse.Tokenizer, error) { panic(ownPanic) },
		"that is no good":   func() (sparse.Tokenizer, error) { return p.oddTokenizer(), nil },
		"of a bad analyzer": func() (sparse.Tokenizer, error) { return sparse.Tokenizer{Analyzer: "x"}, nil },
	} {
		p.bad(call, func() error {
			_, err := sparse.Read(p.ctx, source, sparse.Options{TokenizerLater: later})
			return err
		})
	}
}

func vocabularyLater(p *program) {
	source := p.file("a.tsv", "x\ta b a\ny\tb c\n")
	p.bad("that fails", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return nil, errors.New("none: none")
		}})
		return err
	})
	p.bad("of a term twice", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return []string{"a", "a"}, nil
		}})
		return err
	})
	p.any("of none", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return nil, nil
		}})
		return err
	})
}

func readSets(p *program) {
	file := p.file("sets", "a\tx\nb\ty\na\tx\n")
	p.good("of as many points", func() error {
		_, err := sparse.ReadSets(p.ctx, file, 3, sparse.Options{})
		return err
	})
	n := p.odd()
	if n != 3 {
		p.bad(fmt.Sprint("of ", n, " points"), func() error {
			_, err := sparse.ReadSets(p.ctx, file, n, sparse.Options{})
			return err
		})
	}
	bytes := p.odd()
	p.any(fmt.Sprint("lines of ", bytes), func() error {
		_, err := sparse.ReadSets(p.ctx, file, 3, sparse.Options{MaxLineBytes: bytes})
		return err
	})
	p.bad("of no file", func() error { _, err := sparse.ReadSets(p.ctx, "", 3, sparse.Options{}); return err })
}
