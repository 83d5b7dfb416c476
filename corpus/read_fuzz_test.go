package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

// reader reads a file of one format.
type reader func(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error)

// readBytes reads a file from memory.
func readBytes(read reader, data []byte, opt Options) (*Corpus, error) {
	in := &input{name: "fuzz", line: 1, meter: &progressMeter{}}
	if err := in.decode(bytes.NewReader(data), nil); err != nil {
		return nil, err
	}
	return read(context.Background(), in, &opt, &progressMeter{})
}

// fuzzReader checks that no bytes cause a panic, that the corpus is valid, that errors have a
// position, and that the number of workers changes nothing.
func fuzzReader(f *testing.F, read reader, opt Options, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Add([]byte(gzipped(seeds[0])), false)
	f.Fuzz(func(t *testing.T, data []byte, signed bool) {
		opt := opt
		opt.Workers, opt.MinDF, opt.Signed, opt.MaxLineBytes = 1, 1, signed, 1000
		want, wantErr := readBytes(read, data, opt)
		opt.Workers = 2
		got, err := readBytes(read, data, opt)
		if wantErr != nil {
			var syntax *SyntaxError
			if !errors.As(wantErr, &syntax) || err == nil || err.Error() != wantErr.Error() {
				t.Fatalf("%v, and from 2 workers %v", wantErr, err)
			}
			// The missing line may be the line after the last. Objects in an array count as lines.
			lines := int64(bytes.Count(data, []byte{'\n'})+bytes.Count(data, []byte{','})) + 2
			if syntax.Line < 0 || syntax.Line > lines && data[0] != 0x1f && data[0] != 0x28 ||
				syntax.Found == "" || syntax.Expected == "" {
				t.Fatalf("%#v", syntax)
			}
			return
		}
		checkCorpus(t, want)
		if !reflect.DeepEqual(got, want) || got.Digest() != want.Digest() {
			t.Fatalf("2 workers read something else than 1")
		}
		for k, v := range want.Documents.Values {
			if v < 0 && !signed {
				t.Fatalf("value %d is %v", k, v)
			}
		}
	})
}

func FuzzReadSVMLight(f *testing.F) {
	fuzzReader(f, readSVMLight, Options{}, "+1 1:2 10:0.5 # comment\n-1\t2:1e-1\n\n1,3 qid:4 4:2\r\n 7:1\n- 1:-1",
		"1 0:nan\n", "a 4294967294:1 4294967295:1\n", "1 3:1 2:1", "1:1")
}

// Every line has a group.
func FuzzReadGroups(f *testing.F) {
	fuzzReader(f, readSVMLight, Options{GroupColumn: "qid"}, "1 qid:4 4:2\n2 qid:5\n", "1 qid:4 4:2\n2 5:1\n",
		"1 qid:4 qid:4\n", "1 qid:99999999999999999999 1:1\n")
}

func FuzzReadTSV(f *testing.F) {
	fuzzReader(f, readTSV, Options{}, "a,b\tSome text\n\n-\tmore text\té\r\n", "no tab", "a\t\xff\n", "a,a\tb", "\t",
		"a\t\x00")
}

// TestLineCutter checks that blocks end at line ends, for any buffer size and any size of reads.
func TestLineCutter(t *testing.T) {
	const text = "a\n\nlonger line\nx\r\nthe last line has no end"
	for size := range len(text) + 2 {
		cutter := blockReader{in: &input{r: bufio.NewReader(strings.NewReader(text)), line: 1}, maxLine: 100}
		var got []byte
		for {
			data, err := cutter.next(context.Background(), make([]byte, 0, size))
			got = append(got, data...)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 || data[len(data)-1] != '\n' {
				t.Fatalf("size %d: block %q does not end a line", size, data)
			}
		}
		if string(got) != text {
			t.Fatalf("size %d: %q", size, got)
		}
	}
}
