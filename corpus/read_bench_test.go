package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	for l := range bytes.Lines(svmText(20000, false)) {
		text.WriteString("x\t")
		for _, pair := range bytes.Fields(l)[1:] { // index:count becomes count words made of the index
			index, n, _ := bytes.Cut(pair, []byte(":"))
			word := bytes.Map(func(r rune) rune { return r + 'A' - '0' }, index)
			text.Write(bytes.Repeat(append(word, ' '), int(n[0]-'0')))
		}
		text.WriteByte('\n')
	}
	for name, content := range map[string][]byte{
		"counts.svm": svmText(30000, false), "weights.svm": svmText(30000, true), "words.tsv": text.Bytes(),
	} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				file := writeFile(b, name, string(content))
				b.SetBytes(int64(len(content)))
				for b.Loop() {
					musttest.Get(Read(b.Context(), file, Options{Workers: workers}))(b)
				}
			})
		}
	}
}
