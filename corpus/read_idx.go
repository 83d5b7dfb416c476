package corpus

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

	"github.com/gramengine/gram/corpus/internal/compressed"
	"github.com/gramengine/gram/sparse"
)

var idxFormat = fileFormat{name: FormatIDX, magic: []string{idxMagic}, read: readIDX}

// An idx file is a header, big-endian, and then bytes: two zeros, the type of an element, the
// number of dimensions, and the size of each dimension in 32 bits; the last dimension varies
// fastest. Source: yann.lecun.com/exdb/mnist, "the idx file format".
const (
	idxBytes      = 0x08 // the type of an element: an unsigned byte. MNIST and all that came in its form have no other
	idxMagic      = "\x00\x00\x08"
	idxChunk      = 64 << 10 // bytes of an image that are read at a time: what a header says must not be allocated
	idxDimensions = 8        // more of them are no images
)

// readIDX reads the images of an idx file and, if there is one, the file of labels beside it, whose
// numbers name the classes. A pixel v becomes the value v/255 in the column of its place in the
// image, row by row. The name of the file of labels follows from that of the images:
// train-images-idx3-ubyte.gz goes with train-labels-idx1-ubyte, compressed or not.
//
// Memory grows with what the file holds, whatever its header says.
func readIDX(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	defer context.AfterFunc(ctx, in.close)()
	images, err := readIDXImages(ctx, in, opt, m)
	if err != nil {
		return nil, err
	}
	c, err := vectorCorpus(in.name, images, opt, nil, "pixels", "image", 1)
	if err != nil {
		return nil, err
	}
	switch labels, err := openIDXLabels(ctx, in, m); {
	case err != nil:
		return nil, err
	case labels == nil:
		(*warnings)(&c.Warnings).add("images without a file of labels beside them", 1, in.name)
	default:
		defer labels.close()
		if err := c.readIDXLabels(ctx, labels); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// readIDXImages reads a file of two dimensions or more, of which the first counts the images.
func readIDXImages(ctx context.Context, in *input, opt *Options, m *meter) (*sparse.CSR, error) {
	sizes, err := in.idxHeader(ctx)
	if err != nil {
		return nil, err
	}
	if len(sizes) < 2 {
		const found = "an idx file of 1 dimension, such as labels have"
		return nil, fault(found, "images: at least 2 dimensions").at(in.name, 0)
	}
	count, pixels := int(sizes[0]), uint64(1)
	for _, s := range sizes[1:] {
		if pixels *= uint64(s); pixels == 0 || pixels > maxIndex+1 {
			expected := fmt.Sprintf("from 1 to %d pixels", uint64(maxIndex)+1)
			return nil, fault(fmt.Sprintf("images of size %v", sizes[1:]), expected).at(in.name, 0)
		}
	}
	if count == 0 {
		return nil, fault("no images", "at least one").at(in.name, 0)
	}
	const aRow, aValue = 36, 20 // offsets, labels, and entries, with what is copied while they grow
	expected := fmt.Sprintf("%d images, as the header says", count)
	out := &sparse.CSR{Cols: int(pixels), Offsets: make([]int64, 1, min(count, maxEmptyRows)+1)}
	buffer := make([]byte, min(pixels, idxChunk))
	for i := range count {
		before := len(out.Values)
		for at := uint64(0); at < pixels; {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			part := buffer[:min(pixels-at, uint64(len(buffer)))]
			err := in.idxRead(ctx, part, expected, func(n int) string {
				return fmt.Sprintf("in image %d, after %d of %d pixels", i+1, at+uint64(n), pixels)
			})
			if err != nil {
				return nil, err
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
		if opt.memory.spent() {
			return nil, opt.memory.check(fmt.Sprintf("%s, image %d", in.name, i+1))
		}
		m.documents.Store(int64(i + 1))
	}
	out.Offsets, out.Terms, out.Values = slices.Clip(out.Offsets), slices.Clip(out.Terms), slices.Clip(out.Values)
	return out, in.idxOver(fmt.Sprintf("data after image %d", count))
}

// readIDXLabels reads as many labels as there are images, each a byte.
func (c *Corpus) readIDXLabels(ctx context.Context, in *input) error {
	defer context.AfterFunc(ctx, in.close)()
	count := c.Documents.Rows()
	sizes, err := in.idxHeader(ctx)
	switch {
	case err != nil:
		return err
	case len(sizes) != 1:
		return fault(fmt.Sprintf("an idx file of %d dimensions", len(sizes)), "labels: 1 dimension").at(in.name, 0)
	case int64(sizes[0]) != int64(count):
		expected := fmt.Sprintf("%d, one for each image of %s", count, c.Source)
		return fault(fmt.Sprintf("%d labels", sizes[0]), expected).at(in.name, 0)
	}
	values := make([]byte, count)
	err = in.idxRead(ctx, values, fmt.Sprintf("%d labels, as the header says", count), func(n int) string {
		return fmt.Sprintf("after %d labels", n)
	})
	if err != nil {
		return err
	}
	table := newClassTable()
	for _, v := range values {
		table.add(strconv.Itoa(int(v)))
	}
	c.Classes, c.Labels = table.list, table.labels
	return in.idxOver(fmt.Sprintf("data after label %d", count))
}

// idxHeader reads the header of an idx file of bytes, and returns the sizes.
func (in *input) idxHeader(ctx context.Context) ([]uint32, error) {
	const expected = "an idx file of unsigned bytes: 00 00 08, the number of dimensions, and the size of each"
	var magic [4]byte
	where := func(n int) string { return fmt.Sprintf("after %d bytes", n) }
	if err := in.idxRead(ctx, magic[:], expected, where); err != nil {
		return nil, err
	}
	if string(magic[:3]) != idxMagic || magic[3] == 0 || magic[3] > idxDimensions {
		most := fmt.Sprintf("%s (at most %d)", expected, idxDimensions)
		return nil, fault(fmt.Sprintf("the first bytes % x", magic), most).at(in.name, 0)
	}
	sizes, b := make([]uint32, magic[3]), make([]byte, 4*magic[3])
	err := in.idxRead(ctx, b, expected, func(n int) string { return fmt.Sprintf("after %d of %d sizes", n/4, len(sizes)) })
	for i := range sizes {
		sizes[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return sizes, err
}

// idxRead fills b. where says at which place the file ended, given how many bytes there were.
func (in *input) idxRead(ctx context.Context, b []byte, expected string, where func(n int) string) error {
	n, err := io.ReadFull(in.r, b)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// ReadFull gives the same error for gzip data that were cut off and for a whole file that is
	// too short.
	_, below := in.r.Peek(1)
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && (below == nil || below == io.EOF) {
		return fault("the end of the file "+where(n), expected).at(in.name, 0)
	}
	return in.readError(0, err)
}

// idxOver checks that the file ends here.
func (in *input) idxOver(found string) error {
	switch _, err := in.r.Peek(1); err {
	case io.EOF:
		return nil
	case nil:
		return fault(found, "the end of the file, as the header says").at(in.name, 0)
	default:
		return in.readError(0, err)
	}
}

// idxTrain are the names of the images for training in a folder.
var idxTrain = []string{"train-images-idx3-ubyte", "train-images.idx3-ubyte"}

// findIDX returns the images for training in a folder, or "" if there are none.
func findIDX(folder string) string {
	for _, name := range idxTrain {
		for _, suffix := range append([]string{""}, compressed.Suffixes...) {
			file := filepath.Join(folder, name+suffix)
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				return file
			}
		}
	}
	return ""
}

// openIDXLabels opens the file of labels that belongs to a file of images. It returns nil if there
// is none, or if the name of the images doesn't tell its name.
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

// idxLabels returns where the labels of a file of images may be, by its name.
func idxLabels(images string) []string {
	folder, name := filepath.Split(images)
	at := strings.LastIndex(name, "images")
	if at < 0 {
		return nil
	}
	rest := compressed.CutSuffix(name[at+len("images"):])
	if i := strings.Index(rest, "idx"); i >= 0 && i+3 < len(rest) { // its digit is the number of dimensions
		rest = rest[:i+3] + "1" + rest[i+4:]
	}
	labels := filepath.Join(folder, name[:at]+"labels"+rest)
	places := []string{labels}
	for _, suffix := range compressed.Suffixes {
		places = append(places, labels+suffix)
	}
	return places
}
