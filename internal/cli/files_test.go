package cli

import "testing"

// Several pictures have the ending of the one that is named, and names that begin with it and a dash.
func TestDrawsSeveral(t *testing.T) {
	f, path := NewFlags("x"), ""
	f.DrawsSeveral(&path, "plot", "draw `FILE`")
	path = "out/a.png"
	folder, owns := f.outputs[0].place()
	if folder != "out" {
		t.Errorf("folder %s, expected out", folder)
	}
	for name, want := range map[string]bool{
		"a.png": true, "a-1.png": true, "a-x-y.png": true, "a-1.txt": false, "b-1.png": false, "ab.png": false, "a": false,
	} {
		if owns(name) != want {
			t.Errorf("%s: %t, expected %t", name, !want, want)
		}
	}
}
