package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/gramengine/gram/sparse"
)

func smallCorpus() *Corpus {
	return &Corpus{
		Source: "here",
		Documents: &sparse.CSR{
			Cols: 3, Offsets: []int64{0, 2, 2, 3}, Terms: []uint32{0, 2, 1}, Values: []float32{1, 0.5, 3},
		},
		Vocabulary: []string{"a", "b", "çedille"},
		Classes:    []string{"x", "y"},
		Labels:     sparse.Labels{Offsets: []int64{0, 1, 1, 3}, IDs: []int32{0, 0, 1}},
	}
}

// TestDigest pins the digest of a small corpus, which must never change, and recomputes it from the
// documented layout.
func TestDigest(t *testing.T) {
	c := smallCorpus()
	var b bytes.Buffer
	b.WriteString("gram corpus 1\n")
	for _, x := range []any{[]uint64{3, 3, 3}, c.Documents.Offsets, c.Documents.Terms, c.Documents.Values,
		c.Labels.Offsets, c.Labels.IDs,
		uint64(2), uint64(1), []byte("x"), uint64(1), []byte("y"), uint64(3), uint64(1), []byte("a"),
		uint64(1), []byte("b"), uint64(8), []byte("çedille"),
	} {
		binary.Write(&b, binary.LittleEndian, x)
	}
	want := sha256.Sum256(b.Bytes())
	got := c.Digest()
	if got != want {
		t.Errorf("digest %x, the layout gives %x", got, want)
	}
	const pinned = "70b79d09662eaf027d92fc05fc88003f4daa1ae337266c67b5b2d2da8b7836aa"
	if hex.EncodeToString(got[:]) != pinned {
		t.Errorf("digest %x, want %s", got, pinned)
	}
	for name, change := range map[string]func(c *Corpus){
		"cols":       func(c *Corpus) { c.Documents.Cols++ },
		"offset":     func(c *Corpus) { c.Documents.Offsets[2]++ },
		"term":       func(c *Corpus) { c.Documents.Terms[2] = 2 },
		"value":      func(c *Corpus) { c.Documents.Values[0] = 2 },
		"label":      func(c *Corpus) { c.Labels.IDs[0] = 1 },
		"labels":     func(c *Corpus) { c.Labels.Offsets[1] = 0 },
		"class":      func(c *Corpus) { c.Classes[0] = "xx" },
		"vocabulary": func(c *Corpus) { c.Vocabulary[0], c.Vocabulary[1] = "", "ab" },
		"weights":    func(c *Corpus) { c.Weights = []float64{1, 1, 2} },
		"groups":     func(c *Corpus) { c.Groups = []int64{1, 1, 2} },
	} {
		c := smallCorpus()
		change(c)
		if c.Digest() == want {
			t.Errorf("%s doesn't enter the digest", name)
		}
	}
	same := smallCorpus()
	same.Source, same.Names = "there", []string{"1", "2", "3"}
	same.Warnings = []Warning{{Message: "w", Count: 1, First: "x"}}
	if same.Digest() != want {
		t.Error("source, names or warnings enter the digest")
	}
	if same.Weights = []float64{1, 1, 1}; same.Digest() != want {
		t.Error("weights of 1 enter the digest")
	}
	unlabelled, zero := smallCorpus(), smallCorpus()
	unlabelled.Labels, zero.Labels = sparse.Labels{}, sparse.Labels{Offsets: make([]int64, 4)}
	if unlabelled.Digest() != zero.Digest() {
		t.Error("no labels and labels of none differ")
	}
}

// TestSyntheticDigest pins the digest of a random corpus, which is the same on every platform and
// in every version.
func TestSyntheticDigest(t *testing.T) {
	c := readWhole(t, "synthetic:docs=1000,terms=5000,length=100,classes=7,seed=3", Options{})
	const pinned = "f60364fd3040df662acc02759ad4877ad87b5474931d08463ae0730a4ab53e22"
	if got := c.Digest(); hex.EncodeToString(got[:]) != pinned {
		t.Errorf("digest %x, want %s", got, pinned)
	}
}
