package archive

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// Origin are the keys of a header for the corpus that a model was trained on.
type Origin struct {
	Source Name   `json:"source"`
	Corpus string `json:"corpus"` // its digest in hexadecimal
}

// OriginOf returns the keys for a corpus.
func OriginOf(source string, digest [32]byte) Origin {
	return Origin{Name(source), hex.EncodeToString(digest[:])}
}

// Parse returns what the keys say.
func (o Origin) Parse() (source string, digest [32]byte, err error) {
	b, err := hex.DecodeString(o.Corpus)
	if err != nil || len(b) != len(digest) {
		return "", digest, fmt.Errorf("corpus %q, expected %d hexadecimal digits", o.Corpus, 2*len(digest))
	}
	return string(o.Source), [32]byte(b), nil
}

// Text are the keys of a header for a vocabulary, whose array is the first of a file, and the tokenizer
// that made it.
type Text struct {
	Vocabulary *vocabularySize `json:"vocabulary,omitempty"` // of documents that were texts
	Tokenizer  string          `json:"tokenizer,omitempty"`
}

type vocabularySize struct {
	Terms int64 `json:"terms"`
	Bytes int64 `json:"bytes"`
}

// TextOf returns the keys for a vocabulary, nil for none.
func TextOf(vocabulary []string, t sparse.Tokenizer) (h Text) {
	if t = t.Canonical(); t != (sparse.Tokenizer{}) {
		h.Tokenizer = t.String()
	}
	if vocabulary != nil {
		h.Vocabulary = &vocabularySize{Terms: int64(len(vocabulary))}
		for _, term := range vocabulary {
			h.Vocabulary.Bytes += int64(len(term))
		}
	}
	return h
}

// Section returns the part of a file that holds the vocabulary. A number below 0 or above most is an
// error.
func (h Text) Section(most int64) (Section, error) {
	var v vocabularySize
	if h.Vocabulary != nil {
		v = *h.Vocabulary
	}
	return Section{Name: "vocabulary", Bytes: 4*v.Terms + v.Bytes},
		Limit(most, Count{"vocabulary terms", v.Terms}, Count{"vocabulary bytes", v.Bytes})
}

// TakeVocabulary takes the vocabulary, whose terms share one string.
func (h Text) TakeVocabulary(d *Arrays) ([]string, error) {
	if h.Vocabulary == nil {
		return nil, nil
	}
	lengths := Array[uint32](d, h.Vocabulary.Terms)
	text := string(d.Bytes(h.Vocabulary.Bytes))
	terms := make([]string, len(lengths))
	for t, n := range lengths {
		if uint64(n) > uint64(len(text)) {
			return nil, fmt.Errorf("vocabulary: term %d has %d bytes, and %d are left of %d", t, n, len(text),
				h.Vocabulary.Bytes)
		}
		terms[t], text = text[:n], text[n:]
	}
	if len(text) > 0 {
		return nil, fmt.Errorf("vocabulary: %d of %d bytes belong to no term", len(text), h.Vocabulary.Bytes)
	}
	return terms, nil
}

// WriteVocabulary writes the lengths of terms, each below 2³² bytes, and the terms one behind the other.
func WriteVocabulary(w *Writer, vocabulary []string) {
	lengths := make([]uint32, len(vocabulary))
	for t, term := range vocabulary {
		lengths[t] = uint32(len(term))
	}
	Numbers(w, lengths)
	for _, term := range vocabulary {
		w.WriteString(term)
	}
}

// Embedding are the keys of a header for an embedding, whose arrays follow the vocabulary.
type Embedding struct {
	Embedding string `json:"embedding"`
	Open      bool   `json:"open,omitempty"`
	Fitted    int64  `json:"fitted"`
	Terms     int64  `json:"terms"`
}

// EmbeddingOf returns the keys for an embedding.
func EmbeddingOf(e *sparse.Embedder) Embedding {
	return Embedding{e.String(), e.Open, int64(e.Documents), int64(len(e.Terms))}
}

// Sections returns the parts of a file that hold vocabulary and embedding. A number below 0 or above
// most is an error.
func (h Embedding) Sections(t Text, most int64) ([]Section, error) {
	e, err := sparse.ParseEmbedding(h.Embedding)
	if err != nil {
		return nil, err
	}
	term := int64(8)
	if e.Weighting.IDF() {
		term = 16
	}
	vocabulary, err := t.Section(most)
	if err != nil {
		return nil, err
	}
	return []Section{vocabulary, {Name: "embedding", Bytes: term * h.Terms}}, Limit(most, Count{"terms", h.Terms})
}

// TakeEmbedding takes the arrays of the embedding.
func (h Embedding) TakeEmbedding(d *Arrays) (*sparse.Embedder, error) {
	e, err := sparse.ParseEmbedding(h.Embedding)
	if err == nil {
		err = Limit(math.MaxInt, Count{"documents", h.Fitted})
	}
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	fitted := sparse.Embedder{
		Embedding: e, Documents: int(h.Fitted), Open: h.Open, Terms: Array[uint32](d, h.Terms),
		DF: Array[int32](d, h.Terms),
	}
	if e.Weighting.IDF() {
		fitted.Weights = Array[float64](d, h.Terms)
	}
	restored, err := sparse.RestoreEmbedder(fitted)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	return restored, nil
}

// WriteEmbedding writes the arrays of an embedding.
func WriteEmbedding(w *Writer, e *sparse.Embedder) {
	Numbers(w, e.Terms)
	Numbers(w, e.DF)
	Numbers(w, e.Weights)
}

// Validate checks a tokenizer that exists, an embedding as [sparse.RestoreEmbedder] asks for, and a
// vocabulary of different terms that holds all of the embedding's; nil stands for none.
func Validate(vocabulary []string, t sparse.Tokenizer, e *sparse.Embedder) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if e == nil {
		return fmt.Errorf("no embedding")
	}
	if err := e.Validate(); err != nil || vocabulary == nil {
		return err
	}
	if term, twice := Repeated(vocabulary); twice {
		return fmt.Errorf("term %q is in the vocabulary twice", term)
	}
	if n := len(e.Terms); n > 0 && int64(e.Terms[n-1]) >= int64(len(vocabulary)) {
		return fmt.Errorf("the embedding has term %d, the vocabulary %d terms", e.Terms[n-1], len(vocabulary))
	}
	return CheckLengths(vocabulary)
}

// CheckLengths checks that terms are short enough for files.
func CheckLengths(vocabulary []string) error {
	for t, term := range vocabulary {
		if int64(len(term)) > math.MaxUint32 {
			return fmt.Errorf("term %d has %d bytes, expected at most %d", t, len(term), int64(math.MaxUint32))
		}
	}
	return nil
}

// Repeated returns a name that is there twice.
func Repeated(names []string) (string, bool) {
	if !slices.IsSorted(names) { // as vocabularies of text are
		names = slices.Sorted(slices.Values(names))
	}
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i], true
		}
	}
	return "", false
}

// Count is a number in a header.
type Count struct {
	Of string
	N  int64
}

// Limit checks that counts are 0 to most, and ints.
func Limit(most int64, counts ...Count) error {
	most = min(most, math.MaxInt)
	for _, c := range counts {
		if c.N < 0 || c.N > most {
			return fmt.Errorf("%d %s, expected 0 to %d", c.N, c.Of, most)
		}
	}
	return nil
}

// Named returns which of some values has a name.
func Named[T fmt.Stringer](of, name string, all ...T) (value T, err error) {
	for _, value := range all {
		if value.String() == name {
			return value, nil
		}
	}
	return value, fmt.Errorf("%s %q is unknown", of, name)
}
