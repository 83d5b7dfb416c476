package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// promptly calls f, which must return context.Canceled. The limit of a minute only distinguishes
// returning from waiting forever.
func promptly(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	case <-time.After(time.Minute):
		t.Error("cancellation is not heeded")
	}
}

// cancelAfter cancels after n bytes.
type cancelAfter struct {
	r      io.Reader
	n      int
	cancel func()
}

func (c *cancelAfter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), 64<<10)])
	if c.n -= n; c.n < 0 {
		c.cancel()
	}
	return n, err
}

// TestCancelEndless cancels while an endless file is read: many lines, and one line without end.
func TestCancelEndless(t *testing.T) {
	for name, test := range map[string]struct {
		read         reader
		head, repeat string
	}{
		"svmlight":       {readSVMLight, "", "1 1:1\n"},
		"svmlight, line": {readSVMLight, "1 1:1 ", "                    "},
		"tsv":            {readTSV, "", "a\tb c\n"},
		"tsv, line":      {readTSV, "a\t", "word "},
		"idx, image":     {readIDX, idx("", 1<<15, 1, 1<<31-1), "\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			in := &input{name: "endless", line: 1, meter: &progressMeter{}}
			musttest.NoError(t, in.decode(&cancelAfter{io.MultiReader(strings.NewReader(test.head),
				&repeater{text: test.repeat}), 4 << 20, cancel}, nil))
			opt := &Options{Workers: 2, MaxLineBytes: 1 << 40}
			promptly(t, func() error { _, err := test.read(ctx, in, opt, &progressMeter{}); return err })
		})
	}
}

// TestCancelBlocked cancels while a pipe has no data: none at all, or no second line.
func TestCancelBlocked(t *testing.T) {
	for _, text := range []string{"", "1 1:1\n"} {
		r, w, err := os.Pipe()
		musttest.NoError(t, err)
		defer r.Close()
		defer w.Close()
		musttest.Get(w.WriteString(text))(t)
		name := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(name); err != nil {
			t.Skip("pipes have no names here: ", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Millisecond, cancel) // at any point of reading
		promptly(t, func() error {
			_, err := Read(ctx, name, Options{FormatOptions: FormatOptions{Format: FormatSVMLight}})
			return err
		})
	}
}

// TestCancelSources cancels sources that aren't a single file, at the first document.
func TestCancelSources(t *testing.T) {
	for _, source := range []string{"goroot", "synthetic:docs=2000000,length=1000"} {
		ctx, cancel := context.WithCancel(context.Background())
		promptly(t, func() error {
			_, err := Read(ctx, source, Options{Progress: func(p Progress) {
				if p.Documents > 0 {
					cancel()
				}
			}})
			return err
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, "goroot", Options{}); err != context.Canceled {
		t.Errorf("error %v, want %v itself", err, context.Canceled)
	}
}

// TestProgress checks that progress grows, is never reported concurrently, and ends at the total.
func TestProgress(t *testing.T) {
	documents := 4000
	if testing.Short() {
		documents = 1000
	}
	content := string(svmText(documents, true))
	for name, content := range map[string]string{"a.svm": content, "a.svm.gz": gzipped(content)} {
		file := writeFile(t, name, content)
		var last Progress
		calls, inside := 0, make(chan struct{}, 1)
		readWhole(t, file, Options{Progress: func(p Progress) {
			select {
			case inside <- struct{}{}:
			default:
				t.Error("called concurrently")
			}
			if p.Done < last.Done || p.Documents < last.Documents || p.Total != 0 && p.Done > p.Total {
				t.Errorf("%v after %v", p, last)
			}
			last = p
			calls++
			<-inside
		}})
		size := int64(len(content))
		if want := (Progress{Done: size, Total: size, Documents: int64(documents)}); last != want || calls == 0 {
			t.Errorf("%s: ended with %v after %d calls, want %v", name, last, calls, want)
		}
	}
}

// A panic of the caller's function on another goroutine becomes an error.
func TestReadPanics(t *testing.T) {
	text := writeFile(t, "a.tsv", "x\ta a\ny\ta\n")
	_, err := Read(t.Context(), text, Options{Progress: func(Progress) { panic("own") }})
	if failed := (*PanicError)(nil); !errors.As(err, &failed) ||
		!strings.Contains(string(failed.Stack), "TestReadPanics") {
		t.Errorf("a report that panics: %v", err)
	}
	_, err = Read(t.Context(), text, Options{Progress: func(Progress) { runtime.Goexit() }})
	if failed := (*PanicError)(nil); !errors.As(err, &failed) || failed.Function != "corpus: Options.Progress" {
		t.Errorf("a report that ends its goroutine: %v", err)
	}
	// Reading ends at the callback that panics, before the end of the source.
	promptly(t, func() error {
		_, err := Read(t.Context(), "synthetic:docs=2000000,length=1000",
			Options{Progress: func(Progress) { panic("own") }})
		if failed := (*PanicError)(nil); errors.As(err, &failed) {
			return context.Canceled // as promptly expects
		}
		return err
	})
}

// A panic of a reader gives an error and doesn't end the program.
func TestReaderPanics(t *testing.T) {
	for _, name := range []string{"a.tsv", "a.csv", "a.npz", "a.tsv.gz", "a"} {
		_, err := ReadFrom(t.Context(), panicking{}, name, Options{})
		if bad := (*run.PanicError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("the disk is gone") }
