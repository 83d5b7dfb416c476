package svm

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// storeCorpus has 2048 documents: 32 panels of 64, or more of fewer, by the instruction set.
const storeCorpus = "synthetic:docs=2048,terms=3000,length=60,classes=2,seed=8"

// trainWithStore is a child that trains with a store until it is killed: it says how many tile
// files there are whenever it looks.
func trainWithStore(dir string) error {
	store, err := tiles.OpenStore(dir)
	if err != nil {
		return err
	}
	c, err := corpus.Read(context.Background(), storeCorpus, corpus.Options{})
	if err != nil {
		return err
	}
	p, err := NewProblem(context.Background(), c, sparse.Sphere, Options{Store: store, Workers: 1})
	if err != nil {
		return err
	}
	fmt.Println("training")
	_, _, err = p.Train(context.Background(), Settings{C: 10})
	fmt.Println("done")
	return err
}

// trainStored trains with a store and returns the model as bytes, and what became of the files.
func trainStored(t *testing.T, dir string) ([]byte, *Report, engine.CachedStats) {
	t.Helper()
	store := musttest.Get(tiles.OpenStore(dir))(t)
	p := problem(
		t, read(t, storeCorpus, corpus.Options{}), kernel.MustParse(DefaultKernel), Options{Store: store},
	)
	m, report, err := p.Train(t.Context(), Settings{C: 10})
	if err != nil {
		t.Fatal(err)
	}
	return encoded(t, m), report, p.Cache()
}

func encoded(t testing.TB, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	musttest.Do(t, m.Write(context.Background(), &b))
	return b.Bytes()
}

// A training that is killed while it computes leaves files that a later one goes on from, to the
// same model as without any; and so does one that finds a file with a flipped bit, a short one and
// an empty one.
func TestStoreSurvivesKillAndDamage(t *testing.T) {
	docs := read(t, storeCorpus, corpus.Options{})
	alone, _ := train(t, docs, Settings{C: 10}, Options{})
	want := encoded(t, alone)
	files := func(dir string) []string {
		all := musttest.Get(filepath.Glob(filepath.Join(dir, "*.tile")))(t)
		return all
	}

	panel := asm.Best().Panel
	pieces := (2048 + panel - 1) / panel

	dir := ""
	killed := false
	for try := 0; try < 50 && !killed; try++ {
		dir = t.TempDir()
		c := command(t, "store", dir)
		out := musttest.Get(c.StdoutPipe())(t)
		start(t, c)
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "training\n" {
			t.Fatalf("the other process says %q: %v", line, err)
		}
		for n := 0; n < 3 && c.Process.Signal(nil) != os.ErrProcessDone; n = len(files(dir)) {
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		killed = len(files(dir)) > 0 && len(files(dir)) < pieces
	}
	if !killed {
		t.Fatal("no process was ever killed between its first file and its last")
	}
	before := int64(len(files(dir)))
	got, report, stats := trainStored(t, dir)
	if !bytes.Equal(got, want) {
		t.Error("the model that goes on from a killed training differs")
	}
	if stats.Loaded != before || stats.Saved != int64(pieces)-before || stats.Damaged != 0 ||
		len(report.Warnings) != 0 {
		t.Errorf(
			"%d files loaded, %d saved, %d damaged, warnings %q; %d were there", stats.Loaded, stats.Saved,
			stats.Damaged, report.Warnings, before,
		)
	}

	all := files(dir)
	change := func(name string, by func([]byte) []byte) {
		t.Helper()
		content, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, by(content), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(all[1], func(b []byte) []byte { b[len(b)/3] ^= 16; return b })
	change(all[5], func(b []byte) []byte { return b[:len(b)/2] })
	change(all[9], func(b []byte) []byte { return nil })
	got, report, stats = trainStored(t, dir)
	if !bytes.Equal(got, want) {
		t.Error("the model from damaged files differs")
	}
	if stats.Loaded != int64(pieces)-3 || stats.Saved != 3 || stats.Damaged != 3 || len(report.Warnings) != 1 ||
		!strings.Contains(report.Warnings[0], "3 tile files were damaged") {
		t.Errorf(
			"%d files loaded, %d saved, %d damaged, warnings %q, expected %d, 3 and 3", stats.Loaded, stats.Saved,
			stats.Damaged, report.Warnings, pieces-3,
		)
	}
	if _, report, stats = trainStored(t, dir); stats.Loaded != int64(pieces) || stats.Computed != 0 ||
		len(report.Warnings) != 0 {
		t.Errorf(
			"%d files loaded, %d pairs computed, warnings %q, expected %d, 0 and none", stats.Loaded, stats.Computed,
			report.Warnings, pieces,
		)
	}
}
