package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/internal/compressed"
	"github.com/gramengine/gram/sparse"
)

var idxFormat = fileFormat{name: FormatIDX, magic: []string{idxMagic}, read: readIDX}

// An idx file has a big-endian header and then bytes. The header has two zeros, the element type,
// the number of dimensions, and the 32-bit size of each dimension; the last dimension varies
// fastest. Source: yann.lecun.com/exdb/mnist, "the idx file format".
const (
	idxMagic      = "\x00\x00\x08" // of unsigned bytes, the only type in MNIST and similar data
	idxDimensions = 8              // maximum for images
)

// readIDX reads the images of an idx file and, if it exists, the label file in the same folder,
// whose numbers name the classes. A pixel v becomes the value v/255 in the column of its position,
// row by row. The label file's name follows from the image file's: train-images-idx3-ubyte.gz goes
// with train-labels-idx1-ubyte, compressed or not.
//
// Memory depends on the actual size of the file, not on its header.
func readIDX(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	images, err := readIDXImages(&arrayReader{ctx: ctx, in: in, opt: opt, name: in.name}, m)
	if err != nil {
		return nil, err
	}
	c, err := vectorCorpus(in.name, images, opt, "pixels", "image", 1)
	if err != nil {
		return nil, err
	}
	switch labels, err := openIDXLabels(ctx, in, m); {
	case err != nil:
		return nil, err
	case labels == nil:
		c.warn().add("image file without a label file in the same folder", 1, in.name)
	default:
		defer labels.close()
		if err := c.readIDXLabels(&arrayReader{ctx: ctx, in: labels, opt: opt, name: labels.name}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readIDXImages reads a file of two or more dimensions; the first is the number of images.
func readIDXImages(r *arrayReader, m *meter) (*sparse.CSR, error) {
	a, err := r.idxHeader()
	if err != nil {
		return nil, err
	}
	if len(a.shape) < 2 {
		return nil, r.fail("an idx file of 1 dimension, as for labels", "images: at least 2 dimensions")
	}
	count, pixels := a.shape[0], int64(1)
	for _, s := range a.shape[1:] {
		if pixels *= s; pixels == 0 || pixels > maxIndex+1 {
			return nil, r.fail(fmt.Sprintf("images of size %v", a.shape[1:]), fmt.Sprintf("from 1 to %d pixels", maxIndex+1))
		}
	}
	if count == 0 {
		return nil, r.fail("no images", "at least one")
	}
	r.short = func(values int64) (where, expected string) {
		return fmt.Sprintf(" in image %d, after %d of %d pixels", values/pixels+1, values%pixels, pixels),
			fmt.Sprintf("%d images, as the header says", count)
	}
	const aRow, aValue = 36, 20 // bytes of a row's offset and label, and of an entry, with copies while slices grow
	out := &sparse.CSR{Cols: int(pixels), Offsets: []int64{0}}
	err = r.each(a, min(count, math.MaxInt64/pixels)*pixels, func(i int64, v float64) error {
		if v != 0 {
			out.Terms, out.Values = append(out.Terms, uint32(i%pixels)), append(out.Values, float32(v)/255)
		}
		if (i+1)%pixels != 0 {
			return nil
		}
		before := out.Offsets[len(out.Offsets)-1]
		out.Offsets = append(out.Offsets, out.NNZ())
		r.opt.memory.add(aRow + aValue*(out.NNZ()-before))
		m.documents.Add(1)
		return r.opt.memory.check(fmt.Sprintf("%s, image %d", r.name, out.Rows()))
	})
	if err != nil {
		return nil, err
	}
	out.Offsets, out.Terms, out.Values = slices.Clip(out.Offsets), slices.Clip(out.Terms), slices.Clip(out.Values)
	return out, r.over(r.in.r, fmt.Sprintf("image %d", count))
}

// readIDXLabels reads one label per image, each a byte.
func (c *Corpus) readIDXLabels(r *arrayReader) error {
	defer context.AfterFunc(r.ctx, r.in.close)()
	count := int64(c.Documents.Rows())
	a, err := r.idxHeader()
	switch {
	case err != nil:
		return err
	case len(a.shape) != 1:
		return r.fail(fmt.Sprintf("an idx file of %d dimensions", len(a.shape)), "labels: 1 dimension")
	case a.shape[0] != count:
		return r.fail(fmt.Sprintf("%d labels", a.shape[0]), fmt.Sprintf("%d, one for each image of %s", count, c.Source))
	}
	r.short = func(values int64) (where, expected string) {
		return fmt.Sprintf(" after %d labels", values), fmt.Sprintf("%d labels, as the header says", count)
	}
	table := newClassTable()
	err = r.each(a, count, func(_ int64, v float64) error {
		table.add(strconv.Itoa(int(v)))
		return nil
	})
	if err != nil {
		return err
	}
	c.Classes, c.Labels = table.list, table.labels
	return r.over(r.in.r, fmt.Sprintf("label %d", count))
}

// idxHeader reads the header of an idx file of bytes.
func (r *arrayReader) idxHeader() (*npyArray, error) {
	const expected = "an idx file of unsigned bytes: 00 00 08, the number of dimensions, and the size of each"
	magic := make([]byte, 4)
	if n, err := io.ReadFull(r.in.r, magic); err != nil {
		return nil, r.end(err, fmt.Sprintf(" after %d bytes", n), expected)
	}
	if string(magic[:3]) != idxMagic || magic[3] == 0 || magic[3] > idxDimensions {
		return nil, r.fail(fmt.Sprintf("the first bytes % x", magic), fmt.Sprintf("%s (at most %d)", expected, idxDimensions))
	}
	a, sizes := &npyArray{r: r.in.r, kind: 'u', size: 1}, make([]byte, 4*magic[3])
	if n, err := io.ReadFull(r.in.r, sizes); err != nil {
		return nil, r.end(err, fmt.Sprintf(" after %d of %d sizes", n/4, magic[3]), expected)
	}
	for at := 0; at < len(sizes); at += 4 {
		a.shape = append(a.shape, int64(binary.BigEndian.Uint32(sizes[at:])))
	}
	return a, nil
}

// openIDXLabels opens the label file of an image file. It returns nil if the label file doesn't
// exist, or if the image file's name doesn't determine its name.
func openIDXLabels(ctx context.Context, images *input, m *meter) (*input, error) {
	if images.stream {
		return nil, nil
	}
	for _, labels := range idxLabels(images.name) {
		in, err := openInput(ctx, labels, form{}, m, nil)
		if !errors.Is(err, fs.ErrNotExist) {
			return in, err
		}
	}
	return nil, nil
}

// idxLabels returns possible paths of the label file, from the image file's name.
func idxLabels(images string) []string {
	folder, name := filepath.Split(images)
	at := strings.LastIndex(name, "images")
	if at < 0 {
		return nil
	}
	rest := compressed.CutSuffix(name[at+len("images"):])
	if i := strings.Index(rest, "idx"); i >= 0 && i+3 < len(rest) { // the digit is the number of dimensions
		rest = rest[:i+3] + "1" + rest[i+4:]
	}
	labels := filepath.Join(folder, name[:at]+"labels"+rest)
	places := []string{labels}
	for _, suffix := range compressed.Suffixes {
		places = append(places, labels+suffix)
	}
	return places
}
