package cli

import "testing"

// Several pictures have the ending of the one that is named, and names that begin with it and a dash.
func TestDrawsSeveral(t *testing.T) {
	f, path := NewFlags("x"), ""
	f.DrawsSeveral(&path, "plot", "draw `FILE`")
	path = "out/a.svg"
	folder, owns := f.outputs[0].place()
	if folder != "out" {
		t.Errorf("folder %s, expected out", folder)
	}
	for name, want := range map[string]bool{
		"a.svg": true, "a-1.svg": true, "a-x-y.svg": true, "a-1.txt": false, "b-1.svg": false, "ab.svg": false, "a": false,
	} {
		if owns(name) != want {
			t.Errorf("%s: %t, expected %t", name, !want, want)
		}
	}
}
