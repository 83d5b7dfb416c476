package learn

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// What a training has kept goes; a file of another kind with that name stays.
func TestRemoveState(t *testing.T) {
	l := &Learner{Files: Files{Form: "gram mkm "}}
	path := filepath.Join(t.TempDir(), "a.model.state")
	for content, goes := range map[string]bool{
		"gram mkm state 1\n": true, "gram mkm 1\nmodel": false, "x": false,
		"my own notes, which are longer than that": false,
	} {
		musttest.Do(t, os.WriteFile(path, []byte(content), 0o600))
		if err := l.RemoveState(path); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if _, err := os.Stat(path); os.IsNotExist(err) != goes {
			t.Errorf("%q: %v, expected it to go: %t", content, err, goes)
		}
	}
	if err := l.RemoveState(path + "x"); err != nil {
		t.Errorf("no file: %v", err)
	}
}
