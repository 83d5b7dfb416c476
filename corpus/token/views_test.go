package token

import (
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestViewsScan(t *testing.T) {
	both := musttest.Get(Parse("words:1..2 + chars:3"))(t)
	s := musttest.Get(both.NewScanner())(t)
	views, _ := both.SplitViews()
	for _, text := range []string{"The cat sat\non the mat", "", "一二 café", "שָׁלוֹם 👍🏽 𠮷𝒳 e\u0301 مرحبا"} {
		got, want := fed(s, text), []string(nil)
		s.End()
		for i, v := range views {
			one, _ := v.NewScanner()
			for _, term := range fed(one, text) {
				want = append(want, viewPrefix(i)+term)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, expected %q", text, got, want)
		}
		slices.Sort(want)
		first, err := both.ViewOffsets(want)
		if err != nil || len(first) != 2 || first[0] != 0 {
			t.Fatalf("%q: views from %v, %v", want, first, err)
		}
		for i, term := range want {
			if char := i >= first[1]; char != strings.HasPrefix(both.FormatTerm(term), "chars ") {
				t.Errorf("term %d of %q reads %s", i, want, both.FormatTerm(term))
			}
		}
	}
	musttest.WantError(both.ViewOffsets([]string{"\x02abc", "\x01the"}))(t, "a vocabulary out of order")
	musttest.WantError(both.ViewOffsets([]string{"the"}))(t, "a vocabulary without views")
}
