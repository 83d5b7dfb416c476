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
)

var idxFormat = fileFormat{name: FormatIDX, magic: []string{idxMagic}, read: readIDX}

// idxMagic is the magic number of an idx file of bytes. It is followed by the number of dimensions,
// the size of each dimension in 32 bits, and the values in row-major order. Source:
// yann.lecun.com/exdb/mnist, "the idx file format".
const idxMagic = "\x00\x00\x08"

// readIDX reads the images of an idx file. A pixel v becomes the value v/255. Columns are pixels in
// row-major order. If the label file is in the same folder, its numbers are the class names.
func readIDX(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	r := &arrayReader{ctx: ctx, in: in, opt: opt, name: in.name}
	a, err := r.readIDXHeader(3)
	if err != nil {
		return nil, err
	}
	a.shape = []int64{a.shape[0], a.shape[1] * a.shape[2]}
	images, err := r.readDense(a, 255)
	if err != nil {
		return nil, err
	}
	m.documents.Store(int64(images.Rows()))
	c, err := newVectorCorpus(in.name, images, opt, "pixels", "image", 1)
	if err != nil {
		return nil, err
	}
	file, err := idxLabelsPath(in.name), fs.ErrNotExist
	var labels *input
	if file != "" && !in.stream {
		labels, err = openInput(ctx, file, decoding{}, m, nil)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.warningList().add("image file without a label file in the same folder", 1, in.name)
		return c, nil
	case err != nil:
		return nil, err
	}
	defer labels.close()
	defer context.AfterFunc(ctx, labels.close)()
	return c, c.readIDXLabels(&arrayReader{ctx: ctx, in: labels, opt: opt, name: labels.name})
}

func (c *Corpus) readIDXLabels(r *arrayReader) error {
	a, err := r.readIDXHeader(1)
	if err != nil {
		return err
	}
	if n := int64(c.Documents.Rows()); a.shape[0] != n {
		return r.syntaxError(fmt.Sprintf("%d labels", a.shape[0]), fmt.Sprintf("%d, one for each image of %s", n, c.Source))
	}
	table := newClassTable()
	err = r.eachValue(a, a.shape[0], func(_ int64, v float64) error {
		table.add(strconv.Itoa(int(v)))
		return nil
	})
	if err != nil {
		return err
	}
	c.Classes, c.Labels = table.list, table.labels
	return r.checkEnd(r.in.r, "the labels")
}

func (r *arrayReader) readIDXHeader(dimensions int) (*npyArray, error) {
	expected := fmt.Sprintf("an idx file that begins with 00 00 08 %02x and sizes of dimensions below 2³¹", dimensions)
	head := make([]byte, 4+4*dimensions)
	if _, err := io.ReadFull(r.in.r, head); err != nil {
		return nil, r.readError(err, expected)
	}
	a := &npyArray{r: r.in.r, kind: 'u', size: 1}
	for at := 4; at < len(head); at += 4 {
		a.shape = append(a.shape, int64(binary.BigEndian.Uint32(head[at:])))
	}
	if string(head[:3]) != idxMagic || int(head[3]) != dimensions || slices.Max(a.shape) > math.MaxInt32 {
		return nil, r.syntaxError(fmt.Sprintf("the first bytes % x", head), expected)
	}
	return a, nil
}

// idxLabelsPath returns the path of the label file, such as train-labels-idx1-ubyte.gz for
// train-images-idx3-ubyte.gz, or "" if the image file has another name.
func idxLabelsPath(images string) string {
	folder, name := filepath.Split(images)
	labels := strings.NewReplacer("images-idx3", "labels-idx1", "images.idx3", "labels.idx1").Replace(name)
	if labels == name {
		return ""
	}
	return filepath.Join(folder, labels)
}
