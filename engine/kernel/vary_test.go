package kernel

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The kernels of a grid keep all parameters that aren't searched.
func TestWithValue(t *testing.T) {
	for _, c := range [][3]string{
		{"polynomial:gamma=2,r=1,degree=3,embed=tf-l2", "degree", "polynomial:gamma=2,r=1,degree=4,embed=tf-l2"},
		{"rbf", "gamma", "rbf:gamma=4"},
		{"diffusion:embed=tfidf-l1-sqrt", "t", "diffusion:t=4,embed=tfidf-l1-sqrt"},
	} {
		k, err := WithParam(MustParse(c[0]), c[1], 4)
		if err != nil || !Equal(k, MustParse(c[2])) {
			t.Errorf("%s with %s=4: %v, %v, expected %s", c[0], c[1], k, err, c[2])
		}
	}
	musttest.WantError(WithParam(MustParse("2*(linear + diffusion:t=1,embed=tf)"), "t", 4))(t,
		"a parameter of a kernel made of others")
}
