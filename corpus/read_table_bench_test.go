package corpus

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// BenchmarkReadTable reads a CSV table of 10⁶ rows with an id, a subject of four to eight Zipfian
// words, a category, a number and a label, with two workers and 1 GiB.
func BenchmarkReadTable(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 20000)
	for i := range words {
		for range 2 + random.IntN(8) {
			words[i] += string(rune('a' + random.IntN(26)))
		}
	}
	zipf := rand.NewZipf(random, 1.05, 2.7, uint64(len(words)-1))
	var table bytes.Buffer
	table.WriteString("id,subject,product,price,label\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&table, "%d,%s", 1_000_000+i, words[zipf.Uint64()])
		for range 3 + random.IntN(5) {
			table.WriteString(" " + words[zipf.Uint64()])
		}
		fmt.Fprintf(&table, ",category%d,%.2f,%c\n", random.IntN(20), math.Exp(3+random.NormFloat64()),
			'a'+rune(random.IntN(4)))
	}
	opt := Options{Workers: 2, MemoryBytes: 1 << 30}
	b.SetBytes(int64(table.Len()))
	for b.Loop() {
		c := musttest.Get(ReadFrom(b.Context(), bytes.NewReader(table.Bytes()), "a.csv", opt))(b)
		if c.Documents.Rows() != 1_000_000 || len(c.Table) != 5 {
			b.Fatalf("%d rows, %s", c.Documents.Rows(), c.DescribeTable())
		}
	}
}
