//go:build campaign

package campaign

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/lab/internal/mkm"
)

var flipsPart = part{
	name: "flips", short: 6 * time.Second, long: 10 * time.Minute, prepare: prepareFlips,
	about: "a bit is flipped in model and index files, or the files are truncated",
}

func init() { learn.Register(lmnn.Learner, mkm.Learner) }

// kinds lists training options that cover all types of models.
var kinds = []gram.TrainOptions{
	{Kernel: "diffusion", C: 1, Probabilities: true}, {Kernel: "linear", Scheme: "labels"},
	{Type: "one_class", Kernel: "ngd"}, {Type: "logistic", C: 1}, {Type: "linear"}, {Type: "knn:k=3"},
	{Type: "landmark:m=8", C: 1}, {Type: "lmnn:iterations=3"}, {Type: "mkm:components=3,layers=arccos:n=1"},
}

// saved returns the files of an index and of a model of each type, indexed by name.
func (t *trial) saved() map[string][]byte {
	folder := t.folder(map[string][]byte{"a.tsv": []byte(corpusLines(24)), "a.svm": []byte(vectorLines(24))})
	texts := musttest.Get(gram.Read(t.Context(), filepath.Join(folder, "a.tsv"), gram.ReadOptions{}))(t)
	vectors := musttest.Get(gram.Read(t.Context(), filepath.Join(folder, "a.svm"), gram.ReadOptions{}))(t)
	files := map[string][]byte{}
	save := func(name string, save func(path string) error) {
		path := filepath.Join(folder, name)
		musttest.NoError(t, save(path))
		files[name] = musttest.Get(os.ReadFile(path))(t)
	}
	for i, o := range kinds {
		c := texts
		if strings.HasPrefix(o.Type, "lmnn") || strings.HasPrefix(o.Type, "mkm") {
			c = vectors
		}
		save(fmt.Sprintf("kind%d.model", i), musttest.Get(gram.Train(t.Context(), c, o))(t).Save)
	}
	lines := strings.Split(corpusLines(20), "\n")
	save("x.index", musttest.Get(gram.NewIndex(t.Context(), lines, gram.IndexOptions{}))(t).Save)
	return files
}

func prepareFlips(t *trial) func(number int64) bool {
	files := t.saved()
	names := slices.Sorted(maps.Keys(files))
	return func(number int64) bool {
		name := names[number%int64(len(names))]
		bad, what := bytes.Clone(files[name]), "a bit flipped"
		at := t.r.IntN(len(bad))
		if bad[at] ^= 1 << t.r.IntN(8); t.r.IntN(10) == 0 {
			bad, what = bad[:at], "cut"
		}
		path := filepath.Join(t.folder(map[string][]byte{name: bad}), name)
		var err error
		if name == "x.index" {
			_, err = gram.LoadIndex(t.Context(), path, gram.Options{})
		} else {
			_, err = gram.Load(path)
		}
		t.count("flips and cuts", 1)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.find("%s, %s at byte %d: error %v, expected that it is damaged", name, what, at, err)
		}
		return true
	}
}
