package main

import "testing"

// On the sources of this repository, gram recognises the languages of files in other folders.
func TestLanguages(t *testing.T) {
	minFiles, maxFiles = 4, 60
	results, err := compare(t.Context(), []string{"../../cluster", "../../cuda", "../../lab", "../../python"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", results)
	if own, other := results[0].accuracy, results[1].accuracy; !(own >= 0.9 && other > 0.3) {
		t.Errorf("accuracy of gram %v, of go-enry %v", own, other)
	}
}
