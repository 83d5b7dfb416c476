package model

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// FuzzRead holds, for any bytes with a right checksum behind them, that there is no panic, that an error is of a known kind, and that what was read is a model that
// is written and read again as the same.
func FuzzRead(f *testing.F) {
	for _, m := range []*Model{tiny(), recipes()[5].train(f), recipes()[8].train(f)} {
		file := encode(f, m)
		f.Add(file[:len(file)-32])
	}
	f.Add([]byte("gram model 2\n{}\n"))
	f.Add([]byte("gram model 1\n{}\n"))
	f.Add([]byte("gram model 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Read(ctx, bytes.NewReader(data)); err == nil {
			t.Fatal("a file without a checksum is read")
		}
		m, err := Read(ctx, bytes.NewReader(signed(data)))
		if err != nil {
			var version *VersionError
			if !errors.Is(err, ErrDamaged) && !errors.As(err, &version) {
				t.Fatal(err)
			}
			return
		}
		file := encode(t, m)
		again, err := Read(ctx, bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, again), file) {
			t.Fatal("what was read is written in other bytes after it was read again")
		}
	})
}

// FuzzReadLIBSVM holds, for any text, that there is no panic, that an error names a line that is there, and that what was read is a model that is written in both forms
// and read again as the same.
func FuzzReadLIBSVM(f *testing.F) {
	for _, text := range []string{threeClasses, odd, regression, oneClassText, "SV\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readText(text)
		if err != nil {
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.File != "m.txt" || bad.Line < 1 || bad.Line > int64(strings.Count(text, "\n"))+2 || bad.Found == "" || bad.Expected == "" || bad.Expected == "a model" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		own, err := Read(ctx, bytes.NewReader(encode(t, m)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, own), encode(t, m)) {
			t.Fatal("the project's own form loses something")
		}
		// Written again, support vectors lose stored zeros, and what follows from them: the columns.
		var b strings.Builder
		if _, err := m.WriteLIBSVM(ctx, &b, LIBSVMOptions{}); err != nil {
			t.Fatal(err)
		}
		back, err := readText(b.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		var again strings.Builder
		if _, err := back.WriteLIBSVM(ctx, &again, LIBSVMOptions{}); err != nil {
			t.Fatal(err)
		}
		if again.String() != b.String() {
			t.Fatalf("written as\n%s, and after it was read again as\n%s", b.String(), again.String())
		}
	})
}
