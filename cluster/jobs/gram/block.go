package gram

// maxTile is the maximum side length of a tile. A tile of 512 x 512 values has 1 MiB, the size of
// the blocks that a store reads and checks.
const maxTile = 512

// side returns the side length of a tile, a power of 2 that divides Rows, so that diagonal tiles
// are square.
func (s *spec) side() int { return min(maxTile, s.Rows&-s.Rows) }

// most returns an upper bound of the number of values per block. Aligning a block to tiles adds
// less than a tile's width to the block's width.
func (s *spec) most() int {
	return min(s.Rows, s.Documents) * min(s.Columns+s.side(), s.Documents)
}

// block is the rectangle of the matrix that a task computes. It is divided into tiles at multiples
// of side. Tiles above the diagonal are omitted. Tiles are stored in row-major order, as are the
// values of each tile.
type block struct {
	side          int
	rows, columns [2]int
}

// block returns the block of a valid task.
func (s *spec) block(task int) block {
	for i := 0; ; i++ {
		end, blocks := s.strip(i)
		if task >= blocks {
			task -= blocks
			continue
		}
		return block{s.side(), [2]int{i * s.Rows, end}, [2]int{s.cut(end, task, blocks), s.cut(end, task+1, blocks)}}
	}
}

// cut returns the first column of block b in the strip that ends before row end. If there are
// several blocks, the last block has at least Columns/2 columns, so it contains the diagonal of the
// strip.
func (s *spec) cut(end, b, blocks int) int {
	if b == blocks {
		return end
	}
	return b * end / blocks / s.side() * s.side()
}

// taskOf returns the task whose block contains the given row and column, where column <= row.
func (s *spec) taskOf(row, column int) (task int) {
	for i := range row / s.Rows {
		_, blocks := s.strip(i)
		task += blocks
	}
	end, blocks := s.strip(row / s.Rows)
	b := min((column+s.side())*blocks/end, blocks-1)
	for s.cut(end, b, blocks) > column {
		b--
	}
	return task + b
}

// below returns the end of the tile that contains row or column i, or end if end is smaller.
func (b *block) below(i, end int) int { return min(i/b.side*b.side+b.side, end) }

func (b *block) values() (n int) {
	for row := b.rows[0]; row < b.rows[1]; row += b.side {
		end := b.below(row, b.rows[1])
		n += (end - row) * (min(end, b.columns[1]) - b.columns[0])
	}
	return n
}

// place returns the index of a value in the stored block, and the width of the value's tile.
func (b *block) place(row, column int) (at, width int) {
	top, left := row/b.side*b.side, column/b.side*b.side
	above := block{b.side, [2]int{b.rows[0], top}, b.columns}
	height := b.below(row, b.rows[1]) - top
	width = b.below(column, b.columns[1]) - left
	return above.values() + height*(left-b.columns[0]) + (row-top)*width + column - left, width
}

// each splits a rectangle at tile boundaries, and calls do for each piece that isn't above the
// diagonal.
func (b *block) each(row, rows, column, columns int, do func(row, rows, column, columns int)) {
	for i := row; i < row+rows; {
		below := b.below(i, row+rows)
		for j := column; j < min(column+columns, below); {
			right := b.below(j, column+columns)
			do(i, below-i, j, right-j)
			j = right
		}
		i = below
	}
}
