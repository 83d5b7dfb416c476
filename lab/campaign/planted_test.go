//go:build campaign

package campaign

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Each part finds the fault that planted/PART.patch creates in a copy of the repository.
func TestPlanted(t *testing.T) {
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	list.Dir = root
	folder := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(musttest.Get(list.Output())(t)), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted, or a link
		}
		to := filepath.Join(folder, name)
		musttest.NoError(t, os.MkdirAll(filepath.Dir(to), 0o777))
		musttest.NoError(t, os.WriteFile(to, data, 0o666))
	}
	for _, p := range parts {
		if *only != "" && !strings.Contains(","+*only+",", ","+p.name+",") {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			fault := musttest.Get(os.ReadFile(filepath.Join("planted", p.name+".patch")))(t)
			patch := func(args ...string) {
				c := exec.Command("patch", append(args, "-p1", "-s", "-N", "-r", "-")...)
				c.Dir, c.Stdin = folder, bytes.NewReader(fault)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("patch: %v: %s", err, out)
				}
			}
			patch()
			defer patch("-R")
			c := exec.Command("go", "test", "-vet=off", "-count=1", "-trimpath", "-tags=campaign", "-short",
				"-run=TestCampaign", "./campaign", "-part="+p.name)
			c.Dir = filepath.Join(folder, "lab")
			out, err := c.CombinedOutput()
			_, found, ok := bytes.Cut(out, []byte("FOUND"))
			if err == nil || !ok {
				t.Fatalf("the planted fault isn't found: %v, %s", err, out[max(0, len(out)-2000):])
			}
			t.Logf("%.300s", found)
		})
	}
}
