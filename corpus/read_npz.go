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

func (r *arrayReader) readCSR() (*sparse.CSR, error) {
	archive, err := r.openZip()
	if err != nil {
		return nil, err
	}
	rows, cols := int64(math.MaxInt32), int64(maxIndex+1)
	lists := map[string][]float64{}
	for _, name := range []string{"format", "shape", "indptr", "indices", "data"} {
		what, most := map[string]string{"shape": "a dimension of", "indptr": "an offset of", "indices": "column"}[name], cols
		if name == "indptr" {
			most = math.MaxInt64 / 64
		}
		if lists[name], err = r.readMember(archive, name, what, most); err != nil {
			return nil, err
		}
		if shape := lists[name]; name == "shape" {
			if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > float64(rows) {
				return nil, r.syntaxError(fmt.Sprintf("a matrix of shape %v", shape), "rows and columns")
			}
			rows, cols = int64(shape[0]), int64(shape[1])-1 // cols is the maximum column index
		}
	}
	offsets, columns, values := lists["indptr"], lists["indices"], lists["data"]
	if n := len(offsets); int64(n) != rows+1 || offsets[0] != 0 || !slices.IsSorted(offsets) {
		return nil, r.syntaxError(fmt.Sprintf("%d offsets (indptr)", n), fmt.Sprintf("%d ascending offsets from 0", rows+1))
	}
	if n := int(offsets[rows]); n != len(columns) || n != len(values) {
		return nil, r.syntaxError(fmt.Sprintf("%d columns (indices) and %d values (data)", len(columns), len(values)),
			fmt.Sprintf("%d of each, according to indptr", n))
	}
	out := &sparse.CSR{Cols: int(cols + 1), Offsets: make([]int64, rows+1)}
	for i := range rows {
		out.Offsets[i+1] = int64(offsets[i+1] - offsets[i])
	}
	out.Allocate()
	var s sparse.RowSorter
	for i := range rows {
		for k := out.Offsets[i]; k < out.Offsets[i+1]; k++ {
			out.Terms[k] = uint32(columns[k])
			if out.Values[k], err = r.checkValue(i, int64(columns[k]), values[k]); err != nil {
				return nil, err
			}
		}
		s.Sort(out.Row(int(i)))
		if terms, _ := out.Row(int(i)); len(slices.Compact(slices.Clone(terms))) < len(terms) {
			return nil, r.syntaxError(fmt.Sprintf("a duplicate column in row %d", i),
				"distinct columns; call matrix.sum_duplicates()")
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readMember reads the one-dimensional array called name. If what isn't empty, the numbers must be
// integers from 0 to most. If name is format, readMember only checks that the text is csr.
func (r *arrayReader) readMember(archive *zip.Reader, name, what string, most int64) (list []float64, err error) {
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return strings.TrimSuffix(f.Name, ".npy") == name })
	if at < 0 {
		return nil, r.syntaxError("no array "+name,
			"format, shape, indptr, indices and data, as written by scipy.sparse.save_npz")
	}
	f, file := archive.File[at], r.name
	defer func() { r.name = file }()
	r.name = file + ", " + f.Name
	content, err := f.Open()
	if err != nil {
		return nil, r.syntaxError(err.Error(), "a member of a zip file")
	}
	defer content.Close()
	a, err := r.readHeader(content)
	switch {
	case err != nil:
		return nil, err
	case name == "format":
		text := make([]byte, min(a.size, 64))
		if _, err := io.ReadFull(content, text); err != nil {
			return nil, r.readError(err, "a name")
		}
		if got := strings.ReplaceAll(string(text), "\x00", ""); got != "csr" {
			return nil, r.syntaxError("a matrix in the format "+quote(got), "csr, as written by save_npz(file, matrix.tocsr())")
		}
	case len(a.shape) != 1:
		return nil, r.syntaxError(fmt.Sprintf("an array of shape %v", a.shape), "one dimension")
	default:
		err = r.eachValue(a, a.shape[0], func(_ int64, v float64) error {
			if what != "" && !(v >= 0 && v <= float64(most) && v == math.Trunc(v)) {
				return r.syntaxError(fmt.Sprintf("%s %v", what, v), fmt.Sprintf("a whole number from 0 to %d", most))
			}
			list = append(list, v)
			r.opt.memory.add(numPyValueBytes)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, r.checkEnd(content, "the values")
}

// directoryBytes limits the bytes read to open a .npz file: zip's end record and central directory.
// The directory is small, because SciPy's files have five members.
const directoryBytes = 1 << 20

func (r *arrayReader) openZip() (*zip.Reader, error) {
	content, size, err := r.in.readerAt(r.opt, zipMagic)
	if err != nil {
		return nil, err
	}
	from := &limitedReaderAt{content, directoryBytes}
	archive, err := zip.NewReader(from, size)
	if err != nil {
		return nil, r.syntaxError(err.Error(), "an undamaged .npz file")
	}
	from.remaining = math.MaxInt64
	return archive, nil
}

// readerAt returns a reader with random access: the file itself if it begins with magic, otherwise
// its content in memory, as for a stream or a compressed file. While the buffer grows, it takes up
// to three times the size of the content.
func (in *input) readerAt(opt *Options, magic string) (io.ReaderAt, int64, error) {
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
		left = max(memory.limit-memory.used.Load(), 0)/growth + 1
	}
	all, err := io.ReadAll(io.LimitReader(in.r, left))
	if err != nil {
		return nil, 0, in.readError(0, err)
	}
	memory.add(growth * int64(len(all)))
	return bytes.NewReader(all), int64(len(all)), memory.check(in.name)
}

// limitedReaderAt reads a zip file. Reading more than remaining bytes is an error.
type limitedReaderAt struct {
	io.ReaderAt
	remaining int64
}

func (d *limitedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if d.remaining -= int64(len(p)); d.remaining < 0 {
		return 0, fmt.Errorf("a zip directory of more than %s", run.FormatBytes(directoryBytes))
	}
	return d.ReaderAt.ReadAt(p, offset)
}
