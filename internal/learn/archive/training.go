package archive

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/sparse"
)

// Origin describes the training corpus of a model.
type Origin struct {
	Source       string   // name of the corpus
	Digest       [32]byte // digest of the corpus; 0 if unknown
	NumDocuments int      // number of documents; 0 if unknown

	Classes    []string // class names, indexed by class
	Vocabulary []string // term of each column; nil for vectors
	Tokenizer  corpus.Tokenizer
	Form       corpus.FormatOptions // format of the documents
}

// OriginOf returns the origin of a model trained on c, with the given digest of c.
func OriginOf(c *corpus.Corpus, digest [32]byte) Origin {
	return Origin{c.Source, digest, c.Documents.Rows(), slices.Clone(c.Classes), c.Vocabulary, c.Tokenizer,
		c.FormatOptions}
}

// Origin describes the keys and arrays of a model's Origin.
func (f *File) Origin(o *Origin) {
	f.Corpus(&o.Source, &o.Digest)
	Count(f, "documents", &o.NumDocuments, math.MaxInt)
	f.Strings("classes", &o.Classes)
	f.Vocabulary(&o.Vocabulary, &o.Tokenizer, &o.Form)
}

// Validate checks that class names are unique, and that the tokenizer and e are valid. A
// vocabulary, if not nil, must have unique terms and include all terms of e.
func (o *Origin) Validate(e *sparse.Embedder) error {
	if name, twice := FindDuplicate(o.Classes); twice {
		return fmt.Errorf("class names must be unique, but %q occurs twice", name)
	}
	return ValidateVocabulary(o.Vocabulary, o.Tokenizer, e)
}

// ValidateWeights checks a linear model. It calls [Origin.Validate], and checks that e is an
// embedding for dot products, that there is at least one class, and that weights are finite.
func (o *Origin) ValidateWeights(e *sparse.Embedder, weights ...[]float64) error {
	if err := o.Validate(e); err != nil {
		return err
	}
	if e.Pairing != sparse.Cosine || len(o.Classes) == 0 {
		return fmt.Errorf("a linear model requires an embedding for dot products and at least one class, got %s and %d "+
			"classes", e, len(o.Classes))
	}
	for k, own := range weights {
		if err := CheckFinite(own); err != nil {
			return fmt.Errorf("weights %d: %w", k, err)
		}
	}
	return nil
}

// CheckFinite returns an error for the first value that isn't a finite number.
func CheckFinite(values []float64) error {
	if i := slices.IndexFunc(values, func(v float64) bool { return v-v != 0 }); i >= 0 {
		return fmt.Errorf("value %d must be finite, got %v", i, values[i])
	}
	return nil
}

// Parameters describes the parameters in the struct *of. The file stores parameters as strings, see
// package params.
func (f *File) Parameters(of any) {
	all := params.Values(of)
	f.StringLists("parameters", &all)
	f.RecordError(params.SetAll(of, all))
}

// StringLists describes a key whose value is an object of string lists. Strings needn't be UTF-8.
func (f *File) StringLists(key string, all *map[string][]string) {
	names := map[string][]RawString{}
	for name, values := range *all {
		names[name] = RawStrings(values)
	}
	f.Key(key, &names)
	*all = nil
	for name, values := range names {
		if *all == nil {
			*all = map[string][]string{}
		}
		(*all)[name] = Strings(values)
	}
}

// Documents describes a matrix of documents. It returns the number of rows.
func (f *File) Documents(name string, docs **sparse.CSR) (rows int) {
	if !f.writing {
		*docs = &sparse.CSR{}
	}
	d := *docs
	rows, values := d.Rows(), len(d.Values)
	f.Object(name, func() {
		Count(f, "rows", &rows, MaxBytes)
		Count(f, "columns", &d.Cols, math.MaxInt)
		Count(f, "values", &values, MaxBytes)
	})
	Array(f, name, &d.Offsets, rows+1)
	Array(f, name, &d.Terms, values)
	Array(f, name, &d.Values, values)
	return rows
}

// DecisionFunctions describes a key whose value is a list of n binary classifiers, encoded as JSON.
func DecisionFunctions[M any](f *File, machines *[]*M, n int) {
	f.Key("machines", machines)
	at := slices.Index(*machines, nil)
	switch {
	case f.err != nil:
	case len(*machines) != n:
		f.fail("%d decision functions, but %d classes", len(*machines), n)
	case at >= 0:
		f.fail("decision function %d is null", at)
	}
}

// Vocabulary describes a vocabulary (nil if there is none), its tokenizer, and the format of the
// documents. When reading, all terms share the memory of one string.
func (f *File) Vocabulary(vocabulary *[]string, tokenizer *corpus.Tokenizer, form *corpus.FormatOptions) {
	var size *vocabularySize // nil if there is no vocabulary
	if terms := *vocabulary; terms != nil {
		size = &vocabularySize{Terms: int64(len(terms))}
		for t, term := range terms {
			if int64(len(term)) > math.MaxUint32 {
				f.fail("term %d has %d bytes, which exceeds the limit of %d", t, len(term), int64(math.MaxUint32))
			}
			size.Bytes += int64(len(term))
		}
	}
	f.OptionalKey("vocabulary", &size)
	var cut string
	if t := tokenizer.Canonical(); t != (corpus.Tokenizer{}) {
		cut = t.String()
	}
	f.OptionalKey("tokenizer", &cut)
	f.OptionalKey("read", form)
	f.RecordError(form.Validate())
	if !f.writing && f.err == nil {
		var err error
		*tokenizer, err = corpus.ParseTokenizer(cut)
		f.RecordError(err)
		f.tokenizer, f.form = *tokenizer, *form
	}
	if size != nil {
		f.terms(vocabulary, *size)
	}
}

type vocabularySize struct {
	Terms int64 `json:"terms"`
	Bytes int64 `json:"bytes"`
}

func (f *File) terms(vocabulary *[]string, size vocabularySize) {
	terms := *vocabulary
	var lengths []uint32
	f.Section("vocabulary", 4, size.Terms, func(w *Writer) {
		for _, term := range terms {
			lengths = append(lengths, uint32(len(term)))
		}
		WriteNumbers(w, lengths)
	}, func(b []byte) error {
		lengths = DecodeNumbers[uint32](b)
		return nil
	})
	f.Section("vocabulary", 1, size.Bytes, func(w *Writer) {
		for _, term := range terms {
			w.WriteString(term)
		}
	}, func(b []byte) error {
		text := string(b)
		terms = make([]string, len(lengths))
		for t, n := range lengths {
			if uint64(n) > uint64(len(text)) {
				return fmt.Errorf("term %d has %d bytes, but only %d of %d remain", t, n, len(text), size.Bytes)
			}
			terms[t], text = text[:n], text[n:]
		}
		if len(text) > 0 {
			return fmt.Errorf("%d of %d bytes do not belong to a term", len(text), size.Bytes)
		}
		*vocabulary = terms
		return nil
	})
}

// Embedding describes a fitted embedding. It returns the embedding's number of terms.
func (f *File) Embedding(e **sparse.Embedder) (terms int) {
	var raw sparse.Embedder
	var name string
	if f.writing {
		raw = **e
		name, terms = raw.String(), len(raw.Terms)
	}
	f.Key("embedding", &name)
	f.OptionalKey("open", &raw.Open)
	f.OptionalKey("views", &raw.Views)
	f.OptionalKey("trailing", &raw.Trailing)
	Count(f, "fitted", &raw.Documents, math.MaxInt)
	Count(f, "terms", &terms, MaxBytes)
	if !f.writing && f.err == nil {
		var err error
		raw.Embedding, err = sparse.ParseEmbedding(name)
		f.RecordError(err)
	}
	Array(f, "embedding", &raw.Terms, terms)
	Array(f, "embedding", &raw.DF, terms)
	if raw.HasColumnWeights() {
		Array(f, "embedding", &raw.Weights, terms)
	}
	if raw.Scales() {
		Array(f, "embedding", &raw.Shifts, terms)
	}
	f.AfterRead("embedding", func() (err error) {
		*e, err = sparse.RestoreEmbedder(raw)
		return err
	})
	if f.err != nil {
		return 0
	}
	return terms
}

// AfterRead describes no data. When reading, it calls do after the preceding sections have been
// read.
func (f *File) AfterRead(name string, do func() error) {
	f.Section(name, 1, 0, func(*Writer) {}, func([]byte) error { return do() })
}

// ValidateVocabulary checks t and e. A vocabulary, if not nil, must have unique terms and include
// all terms of e.
func ValidateVocabulary(vocabulary []string, t corpus.Tokenizer, e *sparse.Embedder) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if e == nil {
		return fmt.Errorf("embedding is missing")
	}
	if err := e.Validate(); err != nil || vocabulary == nil {
		return err
	}
	if term, twice := FindDuplicate(vocabulary); twice {
		return fmt.Errorf("term %q occurs twice in the vocabulary", term)
	}
	if n := len(e.Terms); n > 0 && int64(e.Terms[n-1]) >= int64(len(vocabulary)) {
		return fmt.Errorf("the embedding has term %d, but the vocabulary has %d terms", e.Terms[n-1], len(vocabulary))
	}
	return nil
}

// FindDuplicate returns a name that occurs twice, and reports whether there is such a name.
func FindDuplicate(names []string) (string, bool) {
	if !slices.IsSorted(names) { // vocabularies of text are sorted already
		names = slices.Sorted(slices.Values(names))
	}
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return names[i], true
		}
	}
	return "", false
}
