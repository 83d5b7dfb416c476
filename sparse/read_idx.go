package sparse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An idx file is a header, big-endian, and then bytes: two zeros, the type of an element, the
// number of dimensions, and the size of each dimension in 32 bits; the last dimension varies
// fastest. Source: yann.lecun.com/exdb/mnist, "the idx file format".
const (
	idxBytes      = 0x08 // the type of an element: an unsigned byte. MNIST and all that came in its form have no other
	idxMagic      = "\x00\x00\x08"
	idxChunk      = 64 << 10 // bytes of an image that are read at a time: what a header says must not be allocated
	idxDimensions = 8        // more of them are no images
)

// readIDX reads the images of an idx file, the pixel v as the value v/255, so in [0, 1], in the
// column of its place in the image, row by row, and the classes from the idx file of labels beside
// it, named by their numbers. What the file of labels is called follows from the name of the
// images: train-images-idx3-ubyte.gz goes with train-labels-idx1-ubyte, gzipped or not.
//
// Nothing is allocated by what a header says: memory grows with what is really there.
func readIDX(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	defer context.AfterFunc(ctx, in.close)()
	images, err := readIDXImages(ctx, in, opt, m)
	if err != nil {
		return nil, err
	}
	c := &Corpus{Source: in.name, Documents: images}
	if opt.Vocabulary != nil && len(opt.Vocabulary) != images.Cols {
		return nil, &SyntaxError{
			File:     in.name,
			Found:    fmt.Sprintf("%d pixels", images.Cols),
			Expected: fmt.Sprintf("%d, one for each term of the vocabulary", len(opt.Vocabulary)),
		}
	}
	limitVectors(c, opt)
	var warn warnings
	warn.emptyRows(images, func(i int) string { return fmt.Sprintf("%s, image %d", in.name, i+1) })
	switch labels, err := openIDXLabels(ctx, in.name, m); {
	case err != nil:
		return nil, err
	case labels == nil:
		warn.add("images without a file of labels beside them", 1, in.name)
		c.Labels.Offsets = make([]int64, images.Rows()+1)
	default:
		defer labels.close()
		if c.Classes, c.Labels, err = readIDXLabels(ctx, labels, in.name, images.Rows()); err != nil {
			return nil, err
		}
	}
	c.Warnings = warn
	return c, nil
}

// readIDXImages reads a file of two dimensions or more, of which the first counts the images.
func readIDXImages(ctx context.Context, in *input, opt *Options, m *meter) (*CSR, error) {
	sizes, err := in.idxHeader()
	if err != nil {
		return nil, err
	}
	fail := func(found, expected string) error {
		return &SyntaxError{File: in.name, Found: found, Expected: expected}
	}
	if len(sizes) < 2 {
		return nil, fail("an idx file of 1 dimension, such as labels have", "images: at least 2 dimensions")
	}
	count, pixels := int(sizes[0]), uint64(1)
	for _, s := range sizes[1:] {
		if pixels *= uint64(s); pixels == 0 || pixels > maxIndex+1 {
			return nil, fail(
				fmt.Sprintf("images of size %v", sizes[1:]),
				fmt.Sprintf("from 1 to %d pixels", uint64(maxIndex)+1),
			)
		}
	}
	if count == 0 {
		return nil, fail("no images", "at least one")
	}
	const aRow, aValue = 36, 20 // offsets, labels, and entries, with what is copied while they grow
	out := &CSR{Cols: int(pixels), Offsets: make([]int64, 1, min(count, maxEmptyRows)+1)}
	buffer := make([]byte, min(pixels, idxChunk))
	for i := range count {
		before := len(out.Values)
		for at := uint64(0); at < pixels; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			part := buffer[:min(pixels-at, uint64(len(buffer)))]
			if n, err := io.ReadFull(in.r, part); err != nil {
				if stop := ctx.Err(); stop != nil {
					return nil, stop
				}
				return nil, in.idxEnd(
					err,
					fmt.Sprintf("the end of the file in image %d, after %d of %d pixels", i+1, at+uint64(n), pixels),
					fmt.Sprintf("%d images, as the header says", count),
				)
			}
			for k, v := range part {
				if v != 0 {
					out.Terms = append(out.Terms, uint32(at)+uint32(k))
					out.Values = append(out.Values, float32(v)/255)
				}
			}
			at += uint64(len(part))
		}
		out.Offsets = append(out.Offsets, int64(len(out.Values)))
		opt.memory.add(aRow + aValue*int64(len(out.Values)-before))
		if err := opt.memory.check(func() string { return fmt.Sprintf("%s, image %d", in.name, i+1) }); err != nil {
			return nil, err
		}
		m.documents.Store(int64(i + 1))
	}
	out.Offsets, out.Terms, out.Values = slices.Clip(out.Offsets), slices.Clip(out.Terms), slices.Clip(out.Values)
	return out, in.idxOver(fmt.Sprintf("data behind image %d", count))
}

// readIDXLabels reads count labels, each a byte.
func readIDXLabels(ctx context.Context, in *input, images string, count int) ([]string, Labels, error) {
	defer context.AfterFunc(ctx, in.close)()
	sizes, err := in.idxHeader()
	switch {
	case err != nil:
		return nil, Labels{}, err
	case len(sizes) != 1:
		return nil, Labels{}, &SyntaxError{
			File:     in.name,
			Found:    fmt.Sprintf("an idx file of %d dimensions", len(sizes)),
			Expected: "labels: 1 dimension",
		}
	case int64(sizes[0]) != int64(count):
		return nil, Labels{}, &SyntaxError{
			File:     in.name,
			Found:    fmt.Sprintf("%d labels", sizes[0]),
			Expected: fmt.Sprintf("%d, one for each image of %s", count, images),
		}
	}
	values := make([]byte, count) // as many as there are images, which were all read
	if n, err := io.ReadFull(in.r, values); err != nil {
		if stop := ctx.Err(); stop != nil {
			return nil, Labels{}, stop
		}
		return nil, Labels{}, in.idxEnd(
			err,
			fmt.Sprintf("the end of the file after %d labels", n),
			fmt.Sprintf("%d labels, as the header says", count),
		)
	}
	table := newClassTable()
	for _, v := range values {
		table.labels.Add(table.id(strconv.Itoa(int(v))))
	}
	return table.classes, table.labels, in.idxOver(fmt.Sprintf("data behind label %d", count))
}

// idxHeader reads the header of an idx file of bytes, and returns the sizes.
func (in *input) idxHeader() ([]uint32, error) {
	const expected = "an idx file of unsigned bytes: 00 00 08, the number of dimensions, and the size of each"
	var magic [4]byte
	n, err := io.ReadFull(in.r, magic[:])
	if err != nil {
		return nil, in.idxEnd(err, fmt.Sprintf("the end of the file after %d bytes", n), expected)
	}
	if string(magic[:3]) != idxMagic || magic[3] == 0 || magic[3] > idxDimensions {
		return nil, &SyntaxError{
			File:     in.name,
			Found:    fmt.Sprintf("the first bytes % x", magic),
			Expected: fmt.Sprintf("%s (at most %d)", expected, idxDimensions),
		}
	}
	sizes := make([]uint32, magic[3])
	for i := range sizes {
		var b [4]byte
		if _, err := io.ReadFull(in.r, b[:]); err != nil {
			return nil, in.idxEnd(err, fmt.Sprintf("the end of the file after %d of %d sizes", i, len(sizes)), expected)
		}
		sizes[i] = binary.BigEndian.Uint32(b[:])
	}
	return sizes, nil
}

// idxEnd is the error for data that end early, or of what lies below.
func (in *input) idxEnd(err error, found, expected string) error {
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && !in.gzipShort() {
		return &SyntaxError{File: in.name, Found: found, Expected: expected}
	}
	return in.readError(0, err)
}

// gzipShort tells whether gzip data were cut off: io.ReadFull gives the same error for them as for
// a file that is whole and too short.
func (in *input) gzipShort() bool {
	_, err := in.r.Peek(1)
	return err != nil && err != io.EOF
}

// idxOver is nil at the end of the file.
func (in *input) idxOver(found string) error {
	switch _, err := in.r.Peek(1); err {
	case io.EOF:
		return nil
	case nil:
		return &SyntaxError{File: in.name, Found: found, Expected: "the end of the file, as the header says"}
	default:
		return in.readError(0, err)
	}
}

// idxTrain are the names that the images for training have in a folder.
var idxTrain = []string{"train-images-idx3-ubyte", "train-images.idx3-ubyte"}

// findIDX returns the images for training in a folder, or "" where there are none.
func findIDX(folder string) string {
	for _, name := range idxTrain {
		for _, suffix := range []string{"", ".gz"} {
			file := filepath.Join(folder, name+suffix)
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				return file
			}
		}
	}
	return ""
}

// openIDXLabels opens the file of labels that goes with a file of images; nil where there is none,
// or the name of the images doesn't say.
func openIDXLabels(ctx context.Context, images string, m *meter) (*input, error) {
	for _, labels := range idxLabels(images) {
		in, err := openInput(ctx, labels, m, nil)
		if !errors.Is(err, fs.ErrNotExist) {
			return in, err
		}
	}
	return nil, nil
}

// idxLabels returns the paths at which the labels of a file of images may be, the first that is
// there; none where the name of the images doesn't say.
func idxLabels(images string) []string {
	folder, name := filepath.Split(images)
	at := strings.LastIndex(name, "images")
	if at < 0 {
		return nil
	}
	rest, _ := strings.CutSuffix(name[at+len("images"):], ".gz")
	if i := strings.Index(rest, "idx"); i >= 0 && i+3 < len(rest) { // its digit is the number of dimensions
		rest = rest[:i+3] + "1" + rest[i+4:]
	}
	labels := filepath.Join(folder, name[:at]+"labels"+rest)
	return []string{labels, labels + ".gz"}
}
