package corpus

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// compressed reads a .npz file.
func (r *arrayReader) compressed() (*sparse.CSR, error) {
	archive, err := r.archive()
	if err != nil {
		return nil, err
	}
	members := map[string]*zip.File{}
	for _, f := range archive.File {
		members[strings.TrimSuffix(f.Name, ".npy")] = f
	}
	// list reads a one-dimensional array of nonnegative numbers.
	list := func(name string, add func(v float64) error) (n int64, err error) {
		f := members[name]
		if f == nil {
			return 0, r.fail("no array "+name,
				"format, shape, indptr, indices and data, as scipy.sparse.save_npz writes them")
		}
		file := r.name
		defer func() { r.name = file }()
		r.name = file + ", " + f.Name
		content, err := f.Open()
		if err != nil {
			return 0, r.fail(err.Error(), "a member of a zip file")
		}
		defer content.Close()
		a, err := r.array(content)
		if err != nil {
			return 0, err
		}
		if name == "format" {
			text := make([]byte, min(a.size, 64))
			if _, err := io.ReadFull(content, text); err != nil {
				return 0, r.end(err, "", "a name")
			}
			if got := strings.ReplaceAll(string(text), "\x00", ""); got != "csr" {
				return 0, r.fail("a matrix in the format "+quote(got),
					"csr, as save_npz(file, matrix.tocsr()) writes it")
			}
			return 0, r.over(content, "the values")
		}
		if len(a.shape) != 1 {
			return 0, r.fail(fmt.Sprintf("an array of shape %v", a.shape), "one dimension")
		}
		if err := r.each(a, a.shape[0], func(_ int64, v float64) error { return add(v) }); err != nil {
			return 0, err
		}
		return a.shape[0], r.over(content, "the values")
	}
	if _, err := list("format", nil); err != nil {
		return nil, err
	}
	whole := func(what string, most int64, into *[]int64) func(v float64) error {
		return func(v float64) error {
			if !(v >= 0 && v <= float64(most) && v == math.Trunc(v)) {
				return r.fail(fmt.Sprintf("%s %v", what, v), fmt.Sprintf("a whole number from 0 to %d", most))
			}
			*into = append(*into, int64(v))
			r.opt.memory.add(aNumPyRow)
			return nil
		}
	}
	var shape []int64
	if _, err := list("shape", whole("a dimension of", maxIndex+1, &shape)); err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > math.MaxInt32 {
		return nil, r.fail(fmt.Sprintf("a matrix of shape %v", shape), "rows and columns")
	}
	out := &sparse.CSR{Cols: int(shape[1])}
	if _, err := list("indptr", whole("an offset of", math.MaxInt64/64, &out.Offsets)); err != nil {
		return nil, err
	}
	if n := int64(len(out.Offsets)); n != shape[0]+1 || out.Offsets[0] != 0 || !slices.IsSorted(out.Offsets) {
		return nil, r.fail(fmt.Sprintf("%d offsets (indptr)", n), fmt.Sprintf("%d that ascend from 0", shape[0]+1))
	}
	_, err = list("indices", func(v float64) error {
		if !(v >= 0 && v < float64(shape[1]) && v == math.Trunc(v)) {
			return r.fail(fmt.Sprintf("column %v", v), fmt.Sprintf("a whole number from 0 to %d", shape[1]-1))
		}
		out.Terms = append(out.Terms, uint32(v))
		r.opt.memory.add(aNumPyValue / 2)
		return nil
	})
	if err != nil {
		return nil, err
	}
	row := int64(0)
	_, err = list("data", func(v float64) error {
		k := int64(len(out.Values))
		for row < shape[0]-1 && k >= out.Offsets[row+1] {
			row++
		}
		column := int64(-1)
		if k < int64(len(out.Terms)) {
			column = int64(out.Terms[k])
		}
		u, err := r.value(row, column, v)
		out.Values = append(out.Values, u)
		r.opt.memory.add(aNumPyValue / 2)
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := out.Offsets[shape[0]]; n != int64(len(out.Terms)) || n != int64(len(out.Values)) {
		return nil, r.fail(fmt.Sprintf("%d columns (indices) and %d values (data)", len(out.Terms), len(out.Values)),
			fmt.Sprintf("%d each, as indptr says", n))
	}
	return out, sortRows(r.ctx, r.opt.Workers, out, func(row int, column uint32) error {
		return r.fail(fmt.Sprintf("row %d: column %d twice", row, column),
			"each once, as matrix.sum_duplicates() leaves them")
	})
}

// directoryBytes limits the bytes read to open a .npz file: its end and the list of members.
// SciPy's files have five members.
const directoryBytes = 1 << 20

// archive opens the zip file.
func (r *arrayReader) archive() (*zip.Reader, error) {
	content, size, err := r.in.random(r.opt, zipMagic)
	if err != nil {
		return nil, err
	}
	from := &directory{content, directoryBytes}
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return nil, r.fail(err.Error(), "an undamaged .npz file")
	}
	from.left = math.MaxInt64
	return archive, nil
}

// random returns a reader of a file that begins with magic: the file itself, or its content in
// memory if the file is compressed or a stream. The growing buffer takes up to three times as much.
func (in *input) random(opt *Options, magic string) (io.ReaderAt, int64, error) {
	begin := make([]byte, len(magic))
	if f, ok := in.file.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if n, _ := f.ReadAt(begin, 0); string(begin[:n]) == magic {
				return f, info.Size(), nil
			}
		}
	}
	const growth = 3
	memory, left := opt.memory, int64(math.MaxInt64)
	if memory != nil {
		left = max(memory.limit-memory.held.Load(), 0)/growth + 1
	}
	all, err := io.ReadAll(io.LimitReader(in.r, left))
	if err != nil {
		return nil, 0, in.readError(0, err)
	}
	memory.add(growth * int64(len(all)))
	return bytes.NewReader(all), int64(len(all)), memory.check(in.name)
}

// directory reads a zip file and limits the number of bytes read at first.
type directory struct {
	io.ReaderAt
	left int64
}

func (d *directory) ReadAt(p []byte, offset int64) (int, error) {
	if d.left -= int64(len(p)); d.left < 0 {
		return 0, fmt.Errorf("a list of members of more than %s", run.FormatBytes(directoryBytes))
	}
	return d.ReaderAt.ReadAt(p, offset)
}
