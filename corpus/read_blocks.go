package corpus

import (
	"bytes"
	"context"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/run"
)

// block is a run of whole lines on its way from the file through a worker to the collector.
type block[P sized] struct {
	data      []byte
	firstLine int64         // number of the first line of data
	piece     P             // what the worker made of data
	bad       *SyntaxError  // first bad line in data
	behind    error         // what is wrong behind data; io.EOF at the end of the file
	parsed    chan struct{} // closed once piece and bad are set
}

// sized is a piece that knows how much memory it takes until the end of reading, its part of the
// corpus included.
type sized interface{ bytes() int64 }

// parser turns whole lines into a piece of the result. At a bad line it returns the piece of the
// lines before and an error whose Line counts from 0. It must not keep data.
type parser[P sized] func(data []byte) (P, *SyntaxError)

// scanBlocks cuts the rest of a file into blocks of whole lines, has workers parse them, and hands
// the pieces to collect in the order of the file, with the number of their first line.
//
// The error is that of the first bad line in the file, whatever the scheduling of workers; pieces
// before it have been collected. Pieces count against opt.memory as soon as they are made. Once it
// is spent workers make no more, and the error names the first block that isn't collected.
func scanBlocks[P sized](
	ctx context.Context, in *input, opt *Options, newParser func(worker int) parser[P],
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
		cutter := lineCutter{in: in, most: opt.MaxLineBytes}
		for last := false; !last; {
			b := &block[P]{firstLine: in.line, parsed: make(chan struct{})}
			var buf []byte
			select {
			case buf = <-free:
			default:
				buf = make([]byte, 0, opt.blockBytes())
			}
			b.data, b.behind = cutter.next(ctx, buf)
			last = b.behind != nil
			in.meter.cut.Add(int64(len(b.data)))
			long := cap(b.data) > max(2*blockBytes, opt.MaxLineBytes/(4*opt.Workers))
			if !send(ctx, order, b) || !send(ctx, jobs, b) {
				return
			}
			if long { // the next waits, or as many as are under way would take memory without bound
				select {
				case <-b.parsed:
				case <-ctx.Done():
				}
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
					in.meter.parsed.Add(int64(len(b.data)))
				}
				if cap(b.data) <= 2*blockBytes { // the buffer of a long line isn't kept
					select {
					case free <- b.data[:0]:
					default:
					}
				}
				b.data = nil
				close(b.parsed)
			}
		})
	}
	defer group.Wait()
	defer cancel()
	for b := range order {
		select {
		case <-b.parsed:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := opt.memory.check(place(in.name, b.firstLine)); err != nil {
			return err
		}
		if err := collect(b.piece, b.firstLine); err != nil {
			return err
		}
		if b.bad != nil {
			return b.bad.at(in.name, b.firstLine)
		}
		if b.behind != nil && b.behind != io.EOF {
			return b.behind
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

// lineCutter cuts a file into blocks of whole lines.
type lineCutter struct {
	in   *input // in.line is the number of the line after the last block
	most int    // longest line
	rest []byte // begin of that line
}

// next returns the next block, in buf where it fits. err says what is after it: io.EOF, a line
// that is too long, or an error of reading, after which the unfinished line is not returned.
func (c *lineCutter) next(ctx context.Context, buf []byte) (data []byte, err error) {
	buf = append(buf[:0], c.rest...)
	c.rest = c.rest[:0]
	seen := 0 // so much of buf holds no line end
	records := recordEnds{separator: c.in.quoted, line: c.in.line}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			// Two bytes more than the longest line, for its line end, show that a line is too long.
			larger := make([]byte, len(buf), max(min(2*len(buf)+blockBytes, c.most+2), len(buf)+1))
			copy(larger, buf)
			buf = larger
		}
		for err == nil && len(buf) < cap(buf) {
			var n int
			n, err = c.in.r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
		}
		if err == io.EOF {
			if records.last(buf[seen:]); records.open() {
				return nil, records.unclosed().at(c.in.name, 0)
			}
			c.in.line += int64(bytes.Count(buf, []byte{'\n'}))
			return buf, err
		}
		end := records.last(buf[seen:]) + 1
		if end > 0 {
			end += seen
			c.rest = append(c.rest, buf[end:]...)
			c.in.line += int64(bytes.Count(buf[:end], []byte{'\n'}))
		}
		switch {
		case err != nil:
			return buf[:end], c.in.readError(c.in.line, err)
		case end > 0:
			return buf[:end], nil
		case len(buf) > c.most+1:
			return nil, lineTooLong(c.most).at(c.in.name, c.in.line)
		}
		seen = len(buf)
	}
}

// recordEnds finds where lines end, or records in whose quotes lines may end.
type recordEnds struct {
	separator byte // 0 for lines, [ for the elements of an array
	state     quoteState
	array     arrayState
	rune      []byte // first bytes of a character before a field
	line      int64  // that of the next byte
	opened    int64  // line of the last quote that opened a field
}

// last returns the place of the last end of a record in more bytes, or -1.
func (r *recordEnds) last(more []byte) int {
	if r.separator == 0 {
		return bytes.LastIndexByte(more, '\n')
	}
	end := -1
	for i, c := range more {
		if r.separator == '[' {
			if r.array.ends(c) && c == ',' {
				end = i
			} else if c == '\n' {
				r.line++
			}
			continue
		}
		if r.state == fieldStart && r.separator != '\t' && r.inBlank(c) {
			continue
		}
		before := r.state
		r.state = before.next(c, r.separator)
		if before == fieldStart && r.state == inQuotes {
			r.opened = r.line
		}
		if c == '\n' {
			r.line++
			if r.state == fieldStart {
				end = i
			}
		}
	}
	return end
}

// inBlank reports whether c belongs to a blank beyond ASCII before a field, which newCSV ignores, or may do so.
func (r *recordEnds) inBlank(c byte) bool {
	if c < utf8.RuneSelf {
		if len(r.rune) > 0 {
			r.state, r.rune = inField, r.rune[:0]
		}
		return false
	}
	if r.rune = append(r.rune, c); !utf8.FullRune(r.rune) {
		return true
	}
	blank, _ := utf8.DecodeRune(r.rune)
	r.rune = r.rune[:0]
	return unicode.IsSpace(blank)
}

// open reports whether a quote isn't closed, or an array between elements.
func (r *recordEnds) open() bool {
	return r.state == inQuotes || r.state == quoteReturn || r.separator == '[' && r.array == arrayState{}
}

func (r *recordEnds) unclosed() *SyntaxError {
	if r.separator == '[' {
		return &SyntaxError{Found: "an array that isn't closed", Expected: "] at its end", Line: r.line}
	}
	bad := fault("a quote that opens a field and isn't closed", "a quote at its end")
	bad.Line = r.opened
	return bad
}

func lineTooLong(most int) *SyntaxError {
	return fault("a line of more than "+run.FormatBytes(int64(most)), "shorter lines").
		withOption("MaxLineBytes", "and the bound on memory set the limit")
}

// eachLine calls parse for the lines of data, counted from 0, up to the first bad one, whose error
// it returns.
func eachLine(data []byte, most int, parse func(l []byte, line int32) *SyntaxError) *SyntaxError {
	for line := int32(0); len(data) > 0; line++ {
		var l []byte
		l, data = nextLine(data)
		var bad *SyntaxError
		if len(l) > most {
			bad = lineTooLong(most)
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

// nextLine cuts the first line off data, without its line end (LF or CR LF).
func nextLine(data []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(data, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}
