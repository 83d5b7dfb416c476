package svm_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// BenchmarkPredictTexts predicts messages of 20 Newsgroups one at a time, warm.
func BenchmarkPredictTexts(b *testing.B) {
	ctx := context.Background()
	const folder = "../../../shared/data/20news-bydate/"
	corpus, err := sparse.Read(ctx, folder+"train.tsv.gz", sparse.Options{})
	if err != nil {
		b.Skipf("no 20 Newsgroups: %v", err)
	}
	texts := readTexts(b, folder+"test.tsv.gz", 256)
	for _, of := range []struct {
		name, kernel string
		scheme       solver.Scheme
	}{
		{"diffusion-one-vs-one", "diffusion:t=0.5", solver.OneVsOne},
		{"linear-one-vs-rest", "linear:embed=logtfidf-l2", solver.OneVsRest},
	} {
		b.Run(of.name, func(b *testing.B) {
			k := kernel.MustParse(of.kernel)
			problem := musttest.Get(svm.NewProblem(ctx, corpus, k.Embedding(), svm.Options{Once: true}))(b)
			m, _, err := problem.Train(ctx, svm.Settings{Kernel: k, C: 10, Scheme: of.scheme})
			if err != nil {
				b.Fatal(err)
			}
			p := musttest.Get(svm.NewPredictor(m, svm.PredictOptions{Workers: 1}))(b)
			for range 3 {
				if _, err := p.PredictTexts(ctx, texts[:1]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := p.PredictTexts(ctx, texts[i%len(texts):][:1]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(m.Support.Rows()), "support_vectors")
		})
	}
}

// readTexts returns the first texts of a TSV file.
func readTexts(b *testing.B, file string, n int) (texts []string) {
	f, err := os.Open(file)
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	z := musttest.Get(gzip.NewReader(f))(b)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for len(texts) < n && lines.Scan() {
		_, text, _ := strings.Cut(lines.Text(), "\t")
		texts = append(texts, text)
	}
	return texts
}
