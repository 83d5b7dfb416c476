package cli

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestByteSize(t *testing.T) {
	for s, want := range map[string]int64{"4G": 4 << 30, "500M": 500 << 20, "1.5k": 1536, "100": 100 << 20,
		"2GiB": 2 << 30, "7B": 7, "1t": 1 << 40, "3kb": 3 << 10} {
		var b ByteSize
		if err := b.Set(s); err != nil || int64(b) != want {
			t.Errorf("%q is %d, %v, expected %d", s, b, err, want)
		}
	}
	for s, want := range map[string]string{"60M": "60M", "1024M": "1G", "1.5k": "1536B", "2049K": "2049K", "9T": "9T",
		"2048T": "2048T"} {
		var b ByteSize
		if err := b.Set(s); err != nil || b.String() != want {
			t.Errorf("%q is written as %q, %v, expected %q", s, b.String(), err, want)
		}
	}
	for _, s := range []string{"", "G", "-1G", "0", "NaN", "Inf", "1X", "1GG", "1e30", "1 G", "4GiBB"} {
		var b ByteSize
		musttest.WantError(b.Set(s))(t, s)
	}
}
