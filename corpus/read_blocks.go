package corpus

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/gramengine/gram/internal/run"
)

// block holds whole lines. The reader passes each block to a worker and, in file order, to the
// collector.
type block[P parsedBlock] struct {
	data      []byte
	firstLine int64         // number of the first line of data
	result    P             // result of parsing data
	syntaxErr *SyntaxError  // first bad line in data
	err       error         // error after data, such as io.EOF at the end of the file
	done      chan struct{} // closed once result and syntaxErr are set
}

// parsedBlock is the result of parsing a block, called a piece. bytes returns the memory in bytes
// that the piece needs until the end of reading, including the memory for copying it to the corpus.
type parsedBlock interface{ bytes() int64 }

// parser parses whole lines. At an invalid line, it returns the result for the lines before, and an
// error whose Line counts from 0. It must not retain data.
type parser[P parsedBlock] func(data []byte) (P, *SyntaxError)

// scanBlocks divides the unread part of a file into blocks of whole lines, which workers parse.
// collect receives the pieces in file order, each with the number of its first line.
//
// It returns the error of the first invalid line, independent of scheduling. All pieces before this
// line have been collected. opt.memory counts pieces after parsing. If the limit is exceeded,
// workers stop, and the error names the first block that isn't collected.
func scanBlocks[P parsedBlock](
	ctx context.Context, in *input, opt *Options, newParser func(worker int) parser[P],
	collect func(piece P, firstLine int64) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Closing a pipe is the only way to end a blocked read.
	defer context.AfterFunc(ctx, in.close)()

	order := make(chan *block[P], 2*opt.Workers)
	jobs := make(chan *block[P], 2*opt.Workers)
	free := make(chan []byte, 2*opt.Workers) // buffers for reuse
	var group sync.WaitGroup
	group.Go(func() {
		defer close(order)
		defer close(jobs)
		cutter := blockReader{in: in, maxLine: opt.MaxLineBytes}
		for last := false; !last; {
			b := &block[P]{firstLine: in.line, done: make(chan struct{})}
			var buf []byte
			select {
			case buf = <-free:
			default:
				buf = make([]byte, 0, opt.blockBytes())
			}
			b.data, b.err = cutter.next(ctx, buf)
			last = b.err != nil
			in.meter.divided.Add(int64(len(b.data)))
			long := cap(b.data) > max(2*blockBytes, opt.MaxLineBytes/(4*opt.Workers))
			if !send(ctx, order, b) || !send(ctx, jobs, b) {
				return
			}
			if long { // wait, because several long lines at once could take unbounded memory
				select {
				case <-b.done:
				case <-ctx.Done():
				}
			}
		}
	})
	for w := range opt.Workers {
		group.Go(func() {
			parse := newParser(w)
			for b := range jobs {
				if ctx.Err() == nil && !opt.memory.exceeded() {
					b.result, b.syntaxErr = parse(b.data)
					opt.memory.add(b.result.bytes())
					in.meter.parsed.Add(int64(len(b.data)))
				}
				if cap(b.data) <= 2*blockBytes { // the buffer of a long line isn't reused
					select {
					case free <- b.data[:0]:
					default:
					}
				}
				b.data = nil
				close(b.done)
			}
		})
	}
	defer group.Wait()
	defer cancel()
	for b := range order {
		select {
		case <-b.done:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := opt.memory.check(position(in.name, b.firstLine)); err != nil {
			return err
		}
		if err := collect(b.result, b.firstLine); err != nil {
			return err
		}
		if b.syntaxErr != nil {
			return b.syntaxErr.withPosition(in.name, b.firstLine)
		}
		if b.err != nil && b.err != io.EOF {
			return b.err
		}
	}
	return ctx.Err()
}

func send[T any](ctx context.Context, c chan<- T, x T) bool {
	select {
	case c <- x:
		return true
	case <-ctx.Done():
		return false
	}
}

// blockReader divides a file into blocks of whole lines.
type blockReader struct {
	in      *input // in.line is the number of the line after the last block
	maxLine int    // maximum line length
	partial []byte // start of the next line
}

// next returns the next block, in buf if it is large enough. err is the error after the block:
// io.EOF, a line that is too long, or a read error. Read errors drop the unfinished line.
func (c *blockReader) next(ctx context.Context, buf []byte) (data []byte, err error) {
	buf = append(buf[:0], c.partial...)
	c.partial = c.partial[:0]
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			// two bytes more than the maximum length suffice to detect a longer line
			larger := make([]byte, len(buf), max(min(2*len(buf)+blockBytes, c.maxLine+2), len(buf)+1))
			copy(larger, buf)
			buf = larger
		}
		for err == nil && len(buf) < cap(buf) {
			var n int
			n, err = c.in.r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		end, opened := lastRecord(buf, c.in.quotedSeparator)
		if err == io.EOF {
			if opened >= 0 {
				bad := newSyntaxError("an opening quote without a closing quote", "a quote at the end of the field")
				return nil, bad.withPosition(c.in.name, c.in.line+int64(bytes.Count(buf[:opened], []byte{'\n'})))
			}
			end = len(buf)
		}
		if end > 0 {
			c.partial = append(c.partial, buf[end:]...)
			c.in.line += int64(bytes.Count(buf[:end], []byte{'\n'}))
		}
		switch {
		case err == io.EOF:
			return buf, err
		case err != nil:
			return buf[:end], c.in.readError(c.in.line, err)
		case end > 0:
			return buf[:end], nil
		case len(buf) > c.maxLine+1:
			return nil, lineTooLong(c.maxLine).withPosition(c.in.name, c.in.line)
		}
	}
}

func lineTooLong(most int) *SyntaxError {
	return newSyntaxError("a line of more than "+run.FormatBytes(int64(most)), "shorter lines").
		withOption("MaxLineBytes", "raises the limit, within the memory limit")
}

// eachLine calls parse for each line of data, numbered from 0, up to the first invalid line. It
// returns the error of the first invalid line. Lines longer than maxBytes are invalid.
func eachLine(data []byte, maxBytes int, parse func(l []byte, line int32) *SyntaxError) *SyntaxError {
	for line := int32(0); len(data) > 0; line++ {
		var l []byte
		l, data = nextLine(data)
		var bad *SyntaxError
		if len(l) > maxBytes {
			bad = lineTooLong(maxBytes)
		} else {
			bad = parse(l, line)
		}
		if bad != nil {
			bad.Line = int64(line)
			return bad
		}
	}
	return nil
}

// nextLine returns the first line of data, without its line end (LF or CR LF), and the rest.
func nextLine(data []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(data, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}
