//go:build cuda && cgo && linux

package cuda

import (
	"strings"
	"testing"
)

// Documents are blamed for what comes of copying them, and not for kernels that the driver can't
// compile.
func TestLoadErrors(t *testing.T) {
	noLeaks(t)
	x := embedded(t, zipf(70, 100, 8, 3))
	for fail, copying := range map[string]bool{"cuModuleLoadDataEx:1:218": false, "cuMemcpyHtoD_v2:1:700": true} {
		d := open(t, Options{})
		t.Setenv("FAKE_FAIL", fail)
		_, err := d.Load(t.Context(), x)
		if err == nil || strings.Contains(err.Error(), "copying 70 documents") != copying {
			t.Errorf("%s: error %v, expected the documents in it: %v", fail, err, copying)
		}
		t.Setenv("FAKE_FAIL", "")
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
