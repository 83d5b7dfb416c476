package doors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/gramengine/gram/tiles"
)

// noContext is what a program hands over that forgot to make one.
var noContext context.Context

func tilesCases() map[string]testCase {
	return map[string]testCase{
		"tiles.Cache.Abandon":  {run: cacheTiles, panics: true},
		"tiles.Cache.Claim":    {run: cacheTiles, panics: true},
		"tiles.Cache.Complete": {run: cacheTiles, panics: true},
		"tiles.Cache.Lookup":   {run: cacheTiles, panics: true},
		"tiles.Cache.Release":  {run: cacheTiles, panics: true},
		"tiles.Digest": {run: func(p *program) {
			p.good("of nothing", func() error { tiles.Digest(nil); return nil })
		}},
		"tiles.Make": {panics: true, run: func(p *program) {
			n := pick(p, 0, 1, 7, 1<<19, 1<<20+1)
			p.good(fmt.Sprint(n), func() error {
				if s := tiles.Make(n); len(s) != n {
					p.fails("%d values, expected %d", len(s), n)
				}
				return nil
			})
			p.bad("fewer than none", func() error { tiles.Make(pick(p, -1, math.MinInt)); return nil })
			p.bad("more than there can be", func() error { tiles.Make(math.MaxInt); return nil })
		}},
		"tiles.MakeContext": {panics: true, run: func(p *program) {
			n := p.IntN(1 << 10)
			p.good(fmt.Sprint(n), func() error {
				s, err := tiles.MakeContext(p.ctx, n)
				if len(s) != n {
					p.fails("%d values", len(s))
				}
				return err
			})
			p.bad("fewer than none", func() error { _, err := tiles.MakeContext(p.ctx, pick(p, -1, math.MinInt)); return err })
			p.bad("more than there can be", func() error { _, err := tiles.MakeContext(p.ctx, math.MaxInt); return err })
			p.bad("no context", func() error { _, err := tiles.MakeContext(noContext, n); return err })
			p.bad("an ended context", func() error { _, err := tiles.MakeContext(p.ended(), n); return err })
		}},
		"tiles.Missing": {run: func(p *program) {
			p.good("nil", func() error {
				tiles.Missing(nil)
				tiles.Missing(errors.New("x"))
				tiles.Missing(fs.ErrNotExist)
				return nil
			})
		}},
		"tiles.NewCache":  {run: newCache},
		"tiles.OpenStore": {run: openStore},
		"tiles.Owns": {run: func(p *program) {
			for _, name := range []string{"", ".", "/", "x", "\x00", "\xff"} {
				p.quiet(fmt.Sprintf("%q", name), func() { _ = tiles.Owns(name) })
			}
		}},
		"tiles.Piece.Write": {run: storePieces},
		"tiles.Store.Add":   {run: storePieces},
		"tiles.Store.Load":  {run: storePieces},
		"tiles.Store.Save":  {run: storePieces},
		"tiles.TileBytes": {panics: true, run: func(p *program) {
			n := p.odd()
			p.quiet(fmt.Sprint(n), func() { tiles.TileBytes(n) })
		}},
	}
}

func newCache(p *program) {
	width, limit := p.odd(), int64(p.odd())
	p.any(fmt.Sprint("tiles of ", width, " in ", limit), func() error {
		c, err := tiles.NewCache(width, limit)
		if err == nil && (width < 1 || limit < 0) {
			p.fails("a cache of tiles of %d values in %d bytes", width, limit)
		}
		if err == nil && width <= 1000 {
			c.Claim(tiles.Key{})
		}
		return err
	})
}

func cacheTiles(p *program) {
	c, err := tiles.NewCache(8, pick(p, 0, tiles.TileBytes(8), 3*tiles.TileBytes(8)))
	if err != nil {
		p.fails("%v", err)
		return
	}
	foreign := &tiles.Tile{}
	var mine, ready []*tiles.Tile
	for range 30 {
		key := tiles.Key{Row: uint32(p.IntN(4)), Block: pick(p, 0, uint32(math.MaxUint32))}
		switch p.IntN(8) {
		case 0, 1, 2:
			p.good(fmt.Sprint("Claim ", key), func() error {
				switch state, t, _ := c.Claim(key); state {
				case tiles.Mine:
					mine = append(mine, t)
				case tiles.Ready:
					ready = append(ready, t)
				}
				return nil
			})
		case 3:
			p.good(fmt.Sprint("Lookup ", key), func() error {
				if t := c.Lookup(key); t != nil {
					ready = append(ready, t)
				}
				return nil
			})
		case 4:
			if len(mine) > 0 {
				t := mine[0]
				mine = mine[1:]
				if p.chance(2) {
					p.good("Complete", func() error { c.Complete(t); return nil })
					ready = append(ready, t)
					p.bad("Complete twice", func() error { c.Complete(t); return nil })
					p.bad("Abandon after Complete", func() error { c.Abandon(t); return nil })
				} else {
					p.good("Abandon", func() error { c.Abandon(t); return nil })
					p.bad("Abandon twice", func() error { c.Abandon(t); return nil })
				}
			}
		case 5:
			if len(ready) > 0 {
				t := ready[0]
				ready = ready[1:]
				p.good("Release", func() error { c.Release(t); return nil })
			}
		case 6:
			if len(mine) > 0 {
				p.bad("Release of a tile in the making", func() error { c.Release(mine[0]); return nil })
			}
		default:
			for _, t := range []*tiles.Tile{nil, foreign} {
				p.bad(fmt.Sprint("Complete of no tile of the cache: ", t == nil), func() error {
					c.Complete(t)
					return nil
				})
				p.bad(fmt.Sprint("Abandon of no tile of the cache: ", t == nil), func() error {
					c.Abandon(t)
					return nil
				})
				p.bad(fmt.Sprint("Release of no tile of the cache: ", t == nil), func() error {
					c.Release(t)
					return nil
				})
			}
		}
	}
}

func (p *program) folder() string {
	dir, err := os.MkdirTemp("", "doors")
	if err != nil {
		panic(err)
	}
	p.wait = append(p.wait, func() { os.RemoveAll(dir) })
	return dir
}

func openStore(p *program) {
	dir := p.folder()
	p.good("of a folder", func() error { _, err := tiles.OpenStore(dir + "/new"); return err })
	p.bad("of no name", func() error { _, err := tiles.OpenStore(""); return err })
	p.bad("of a file", func() error { _, err := tiles.OpenStore(p.file("x", "y")); return err })
	p.bad("of a name with a zero", func() error { _, err := tiles.OpenStore(dir + "/\x00"); return err })
}

func storePieces(p *program) {
	s, err := tiles.OpenStore(p.folder())
	if err != nil {
		p.fails("%v", err)
		return
	}
	piece := tiles.Piece{Row: p.IntN(5), Rows: 1 + p.IntN(4), Column: p.IntN(9), Cols: 1 + p.IntN(40)}
	values, back := guarded[float32](p, piece.Rows*piece.Cols), poisoned(p, piece.Rows*piece.Cols)
	row := func(of []float32) func(i int) []float32 {
		return func(i int) []float32 { return of[i*piece.Cols : (i+1)*piece.Cols] }
	}
	for i := range values {
		values[i] = float32(p.NormFloat64())
	}
	p.good(fmt.Sprintf("Save %+v", piece), func() error { return s.Save(piece, row(values)) })
	p.good(fmt.Sprintf("Load %+v", piece), func() error {
		err := s.Load(piece, row(back))
		for i := range back {
			if !(back[i] == values[i]) {
				p.fails("value %d is %v, expected %v", i, back[i], values[i])
				break
			}
		}
		return err
	})
	var file bytes.Buffer
	p.good(fmt.Sprintf("Write %+v", piece), func() error { return piece.Write(&file, row(values)) })
	content := file.Bytes()
	p.good(fmt.Sprintf("Add %+v", piece), func() error {
		got, err := s.Add(&file)
		if err == nil && got != piece {
			p.fails("%+v is added, expected %+v", got, piece)
		}
		return err
	})
	p.bad("Add at the end", func() error { _, err := s.Add(&file); return err })
	p.bad("Add of nil", func() error { _, err := s.Add(nil); return err })
	p.bad("Add of half a file", func() error { _, err := s.Add(bytes.NewReader(content[:len(content)/2])); return err })
	content[p.IntN(len(content))] ^= 4
	p.bad("Add of a damaged file", func() error { _, err := s.Add(bytes.NewReader(content)); return err })
	short := func(i int) []float32 { return row(values)(i)[1:] }
	p.bad("Write of short rows", func() error { return piece.Write(&file, short) })
	p.bad("Write without rows", func() error { return piece.Write(&file, nil) })
	p.bad("Write to nil", func() error { return piece.Write(nil, row(values)) })
	p.bad("Save of short rows", func() error { return s.Save(piece, short) })
	p.bad("Load into short rows", func() error { return s.Load(piece, short) })
	p.bad("Save without rows", func() error { return s.Save(piece, nil) })
	p.bad("Load without rows", func() error { return s.Load(piece, nil) })
	wrong := piece
	switch p.IntN(5) {
	case 0:
		wrong.Rows = pick(p, -1, math.MinInt)
	case 1:
		wrong.Cols = pick(p, -1, math.MinInt)
	case 2:
		wrong.Row = -1
	case 3:
		wrong.Column = -1
	case 4:
		wrong.Rows, wrong.Cols = math.MaxInt, math.MaxInt
	}
	p.bad(fmt.Sprintf("Save %+v", wrong), func() error { return s.Save(wrong, row(values)) })
	p.bad(fmt.Sprintf("Write %+v", wrong), func() error { return wrong.Write(&file, row(values)) })
	p.bad(fmt.Sprintf("Load %+v", wrong), func() error { return s.Load(wrong, row(back)) })
}
