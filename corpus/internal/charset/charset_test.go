package charset

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		decoded        bool
	}{
		{"", "\xef\xbb\xbfcaf\xc3\xa9", "café", false},
		{"auto", "\xff\xfec\x00a\x00\xe9\x00", "caé", true},
		{"auto", "\xfe\xff\x00c\x00\xe9", "cé", true},
		{"auto", "caf\xe9", "caf\xe9", false},
		{"UTF-8", "\xff\xfe", "\xff\xfe", false},
		{"utf-16", "\xfe\xff\x00c", "c", true},
		{"utf-16", "c\x00", "c", true},
		{"utf-16be", "\x00c", "c", true},
		{"Latin-1", "\x80\xe9", "\u0080é", true},
		{"iso-8859-1", "\xe9", "é", true},
		{"windows-1252", "\x80\xe9", "€é", true},
		{"cp1252", "\x80", "€", true},
		{"koi8-r", "\xc1", "а", true},
		{"shift_jis", "\x82\xa0\xff", "あ\ufffd", true},
		{"utf-16", "\x00\xd8a\x00b", "\ufffda\ufffd", true},
		{"", "", "", false},
	} {
		charset, err := Lookup(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		r, decoded := charset.Decode(bufio.NewReader(strings.NewReader(c.in)))
		got, err := io.ReadAll(r)
		if string(got) != c.want || decoded != c.decoded || err != nil {
			t.Errorf("%s of %q: %q, %v, %v, expected %q, %v", c.name, c.in, got, decoded, err, c.want, c.decoded)
		}
	}
	for _, name := range []string{"utf-9", "latin", "replacement", "x"} {
		musttest.WantError(Lookup(name))(t, name, "windows-1252")
	}
}
