package backend

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
)

// FuzzParseCosts reads any file, with an error that names it or costs that a head can be chosen by.
func FuzzParseCosts(f *testing.F) {
	var good bytes.Buffer
	if err := (&Costs{1, "m", "d", asm.AVX2, asm.Cost{HeadValue: 1, TailMatch: 1}}).Write(&good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	for _, s := range []string{"", "{}", `{"schema":2}`, `{"schema":1,"isa":"avx2","cost_ns":{"head_value":-1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCosts("c.json", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c.json: ") {
				t.Errorf("%v doesn't name the file", err)
			}
			return
		}
		if !(c.Cost.HeadValue > 0 && c.Cost.TailMatch > 0 && c.Cost.L3Byte >= 0) {
			t.Errorf("%+v", c.Cost)
		}
	})
}
