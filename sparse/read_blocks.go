package sparse

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
)

// block is a run of whole lines on its way from the file through a worker to the collector.
type block[P sized] struct {
	data  []byte
	piece P          // what the worker made of data
	bad   *lineError // first bad line in data
	lines int        // lines in data
	tail  error      // what ended the file behind data, other than its end
	fault *lineError // the same, where it is a fault of the line behind data
	done  chan struct{}
}

// sized is a piece that knows what it takes until the end of reading, its part of the corpus
// included.
type sized interface{ bytes() int64 }

// parser turns whole lines into a piece of the result; where a line is bad it returns the first
// such and the piece of the lines before it. It must not keep data.
type parser[P sized] func(data []byte) (P, *lineError)

// scanBlocks cuts what is left of the file into blocks at line ends, has them parsed by workers,
// and hands the pieces to collect in the order of the file, with the number of their first line.
// The first bad line in the order of the file becomes the error, after the piece with the lines
// before it was collected, however the workers were scheduled. Pieces count against opt.memory as
// soon as they are made; once it is spent no more are, and the place of the first that isn't
// collected becomes the error.
func scanBlocks[P sized](
	ctx context.Context,
	in *input,
	opt *Options,
	newParser func(worker int) parser[P],
	collect func(piece P, firstLine int64) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A pipe may block for ever: closing it is the only way to wake its reader.
	defer context.AfterFunc(ctx, in.close)()

	order := make(chan *block[P], 2*opt.Workers)
	jobs := make(chan *block[P], 2*opt.Workers)
	free := make(chan []byte, 2*opt.Workers) // buffers to use again
	var group sync.WaitGroup
	group.Go(func() {
		defer close(order)
		defer close(jobs)
		cutter := lineCutter{r: in.r, most: opt.MaxLineBytes}
		for last := false; !last; {
			b := &block[P]{done: make(chan struct{})}
			var buf []byte
			select {
			case buf = <-free:
			default:
				buf = make([]byte, 0, blockBytes)
			}
			b.data, b.fault, b.tail = cutter.next(ctx, buf)
			last = b.tail != nil
			if !send(ctx, order, b) || !send(ctx, jobs, b) {
				return
			}
		}
	})
	for w := range opt.Workers {
		group.Go(func() {
			parse := newParser(w)
			for b := range jobs {
				if ctx.Err() == nil && !opt.memory.spent() {
					b.piece, b.bad = parse(b.data)
					opt.memory.add(b.piece.bytes())
					b.lines = bytes.Count(b.data, []byte{'\n'})
				}
				if cap(b.data) <= 2*blockBytes { // what a long line took isn't kept
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
		if err := opt.memory.check(func() string { return place(in.name, in.line) }); err != nil {
			return err
		}
		if err := collect(b.piece, in.line); err != nil {
			return err
		}
		if b.bad != nil {
			return b.bad.at(in.name, in.line)
		}
		in.line += int64(b.lines)
		if b.fault != nil {
			return b.fault.at(in.name, in.line)
		}
		if b.tail != nil && b.tail != io.EOF {
			return in.readError(in.line, b.tail)
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

// lineCutter cuts a stream into blocks of whole lines.
type lineCutter struct {
	r    io.Reader
	most int    // longest line
	rest []byte // begin of a line whose end was not in the block before
}

// next returns the next block, in buf where it fits. err is io.EOF or another error behind the last
// block; the begin of a line that an error other than io.EOF cut short is not returned. fault says
// that the line behind the block is too long.
func (c *lineCutter) next(ctx context.Context, buf []byte) (data []byte, fault *lineError, err error) {
	buf = append(buf[:0], c.rest...)
	c.rest = c.rest[:0]
	seen := 0 // how much of buf is known to hold no line end
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if len(buf) == cap(buf) {
			// Two bytes more than the longest line, for its line end, are enough to know that a
			// line is too long.
			larger := make([]byte, len(buf), max(min(2*len(buf)+blockBytes, c.most+2), len(buf)+1))
			copy(larger, buf)
			buf = larger
		}
		for err == nil && len(buf) < cap(buf) {
			var n int
			n, err = c.r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		if err == io.EOF {
			return buf, nil, err
		}
		if end := bytes.LastIndexByte(buf[seen:], '\n') + 1; end > 0 {
			c.rest = append(c.rest, buf[seen+end:]...)
			return buf[:seen+end], nil, err
		}
		if err != nil {
			return nil, nil, err
		}
		if len(buf) > c.most+1 {
			return nil, lineTooLong(c.most), io.EOF
		}
		seen = len(buf)
	}
}

func lineTooLong(most int) *lineError {
	return &lineError{found: "a line of more than " + FormatBytes(int64(most)), expected: "shorter lines",
		option: "MaxLineBytes", remedy: "and the bound on memory set the limit"}
}

// nextLine cuts the first line off data, without its line end (LF or CR LF).
func nextLine(data []byte) (line, rest []byte) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		line = data
	} else {
		line, rest = data[:i], data[i+1:]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

// boundedLine returns the next line without its line end, bufio.ErrTooLong where it is longer than
// most, and io.EOF behind the last one.
func boundedLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line)-len("\r\n") > most:
			return nil, bufio.ErrTooLong
		case err == nil, err == io.EOF && len(line) > 0:
			if line, _ = nextLine(line); len(line) > most {
				return nil, bufio.ErrTooLong
			}
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// parallel calls f(0) to f(n−1) from the given number of goroutines and returns when all calls
// have; it makes no further calls once ctx is done.
func parallel(ctx context.Context, workers, n int, f func(i int)) error {
	var group sync.WaitGroup
	next := make(chan int)
	for range min(workers, n) {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		if !send(ctx, next, i) {
			break
		}
	}
	close(next)
	group.Wait()
	return ctx.Err()
}
