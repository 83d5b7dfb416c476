package corpus

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// svmText returns an svmlight file of documents that look like text: counts, or the weights that
// other programs write.
func svmText(documents int, weights bool) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range documents {
		fmt.Fprintf(&b, "%d", i%20)
		index := 0
		for range 150 {
			index += 1 + rng.IntN(500)
			if weights {
				fmt.Fprintf(&b, " %d:%.6g", index, rng.Float64()/10)
			} else {
				fmt.Fprintf(&b, " %d:%d", index, 1+int(rng.ExpFloat64()*1.5))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func benchmarkFile(b *testing.B, name string, content []byte, workers int) {
	file := filepath.Join(b.TempDir(), name)
	musttest.Do(b, os.WriteFile(file, content, 0o600))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := Read(context.Background(), file, Options{Workers: workers}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadSVMLight(b *testing.B) {
	for _, weights := range []bool{false, true} {
		content := svmText(30000, weights)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("weights=%t/workers=%d", weights, workers), func(b *testing.B) {
				benchmarkFile(b, "bench.svm", content, workers)
			})
		}
	}
}

func BenchmarkReadTSV(b *testing.B) {
	var text bytes.Buffer
	for l := range bytes.Lines(svmText(20000, false)) {
		text.WriteByte('x')
		text.WriteByte('\t')
		for _, pair := range bytes.Fields(l)[1:] { // index:count becomes count words made of the index
			index, n, _ := bytes.Cut(pair, []byte(":"))
			word := bytes.Map(func(r rune) rune { return r + 'A' - '0' }, index)
			text.Write(bytes.Repeat(append(word, ' '), int(n[0]-'0')))
		}
		text.WriteByte('\n')
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers),
			func(b *testing.B) { benchmarkFile(b, "bench.tsv", text.Bytes(), workers) })
	}
}

func BenchmarkSynthetic(b *testing.B) {
	for b.Loop() {
		if _, err := Read(context.Background(), "synthetic:docs=20000,terms=60000,length=180,classes=20",
			Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
