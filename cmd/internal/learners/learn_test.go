package learners

import "testing"

// A parameter is removed at any position in a learner's specification.
func TestWithout(t *testing.T) {
	for name, want := range map[string]string{
		"landmark:m=256":                        "landmark",
		"landmark:m=256,loss=logistic":          "landmark:loss=logistic",
		"landmark:loss=logistic,m=256":          "landmark:loss=logistic",
		"landmark:m=256 diffusion:t=2":          "landmark diffusion:t=2",
		"landmark:loss=logistic,m=256,passes=9": "landmark:loss=logistic,passes=9",
	} {
		if value, rest := removeParameter(name, "m"); value != 256 || rest != want {
			t.Errorf("%q: %v and %q, expected 256 and %q", name, value, rest, want)
		}
	}
}
