package duplicates

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
)

func TestMain(m *testing.M) { jobtest.RunTests(m) }

const copies = "synthetic:docs=700,terms=900,length=30,copies=200,changed=1,seed=5"

// The job's output equals the output of gram duplicates.
func TestLikeGrambench(t *testing.T) {
	for _, c := range []struct {
		tasks int
		block string
		flags []string
	}{
		{6, "300", nil},
		{1, "131072", []string{"-within", "0"}},
		{36, "99", []string{"-within", "0.3", "-embed", "tfidf-l2"}},
		{28, "101", []string{"-within", "0.1"}},
	} {
		t.Run(fmt.Sprint(c.block, c.flags), func(t *testing.T) {
			t.Parallel()
			j, got, err := jobtest.Run(t, Kind, copies, "groups.tsv", append(c.flags, "-block", c.block)...)
			musttest.NoError(t, err)
			if j.NumTasks != c.tasks {
				t.Errorf("%d tasks, expected %d", j.NumTasks, c.tasks)
			}
			args := append([]string{"duplicates", "-q", "-in", copies}, c.flags...)
			if want := jobtest.RunGram(t, "groups.tsv", args...); len(want) == 0 || !bytes.Equal(got, want) {
				t.Errorf("%d bytes differ from the %d of gram duplicates", len(got), len(want))
			}
		})
	}
}

func TestRefused(t *testing.T) {
	jobtest.CheckRejected(t, Kind, "synthetic:docs=60,terms=90,length=20,classes=3,seed=5", "g.tsv", map[string]string{
		"-within -1":  "-within must be in [0, 1), got -1",
		"-within NaN": "-within must be in [0, 1), got NaN",
		"-block 0":    "-block must be between 1 and 2147483647, got 0",
		"-embed x":    `"x"`,
	})
}

func TestOther(t *testing.T) { jobtest.CheckBlocksRejected(t, Kind, "g.tsv") }

// Any bytes are either rejected or decoded to pairs of valid documents.
func FuzzConnect(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0, 1, 0, 0, 0, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := engine.NewDeduplicator(5)
		if err := unionPairs(kept, b, 5); err != nil {
			return
		}
		for _, group := range kept.Groups() {
			if len(group) < 2 || !slices.IsSorted(group) || group[len(group)-1] >= 5 {
				t.Errorf("%x: group %v", b, group)
			}
		}
	})
}
