package gram

// maxTileSize is the maximum side length of a tile. A tile of 512 x 512 values takes 1 MiB, the
// size of the checksummed blocks of a stored object.
const maxTileSize = 512

// tileSize returns the side length of a tile. It is a power of 2 that divides StripHeight, so that
// diagonal tiles are square.
func (s *spec) tileSize() int { return min(maxTileSize, s.StripHeight&-s.StripHeight) }

// maxBlockValues returns an upper bound of the number of values per block. Aligning a block to
// tiles adds less than a tile's width to the block's width.
func (s *spec) maxBlockValues() int {
	return min(s.StripHeight, s.NumDocuments) * min(s.MaxBlockWidth+s.tileSize(), s.NumDocuments)
}

// block is the rectangle of the matrix that a task computes. It is divided into tiles at multiples
// of tileSize. Tiles above the diagonal are omitted. Tiles, and the values of each tile, are stored
// in row-major order.
type block struct {
	tileSize      int
	rows, columns [2]int
}

func (s *spec) block(task int) block {
	for i := 0; ; i++ {
		end, blocks := s.strip(i)
		if task >= blocks {
			task -= blocks
			continue
		}
		return block{s.tileSize(), [2]int{i * s.StripHeight, end},
			[2]int{s.firstColumn(end, task, blocks), s.firstColumn(end, task+1, blocks)}}
	}
}

// firstColumn returns the first column of block b in the strip that ends before row end. If there
// are several blocks, the last block has at least MaxBlockWidth/2 columns, so it contains the
// diagonal of the strip.
func (s *spec) firstColumn(end, b, blocks int) int {
	if b == blocks {
		return end
	}
	return b * end / blocks / s.tileSize() * s.tileSize()
}

// taskOf returns the task whose block contains the given row and column. It requires column <= row.
func (s *spec) taskOf(row, column int) (task int) {
	for i := range row / s.StripHeight {
		_, blocks := s.strip(i)
		task += blocks
	}
	end, blocks := s.strip(row / s.StripHeight)
	b := min((column+s.tileSize())*blocks/end, blocks-1)
	for s.firstColumn(end, b, blocks) > column {
		b--
	}
	return task + b
}

// tileEnd returns the end of the tile that contains row or column i, or end if end is smaller.
func (b *block) tileEnd(i, end int) int { return min(i/b.tileSize*b.tileSize+b.tileSize, end) }

func (b *block) numValues() (n int) {
	for row := b.rows[0]; row < b.rows[1]; row += b.tileSize {
		end := b.tileEnd(row, b.rows[1])
		n += (end - row) * (min(end, b.columns[1]) - b.columns[0])
	}
	return n
}

// locate returns the index of a matrix value in the stored block, and the width of the value's
// tile.
func (b *block) locate(row, column int) (at, width int) {
	top, left := row/b.tileSize*b.tileSize, column/b.tileSize*b.tileSize
	above := block{b.tileSize, [2]int{b.rows[0], top}, b.columns}
	height := b.tileEnd(row, b.rows[1]) - top
	width = b.tileEnd(column, b.columns[1]) - left
	return above.numValues() + height*(left-b.columns[0]) + (row-top)*width + column - left, width
}

// eachTile splits a rectangle at tile boundaries, and calls do for each piece that isn't above the
// diagonal.
func (b *block) eachTile(row, rows, column, columns int, do func(row, rows, column, columns int)) {
	for i := row; i < row+rows; {
		below := b.tileEnd(i, row+rows)
		for j := column; j < min(column+columns, below); {
			right := b.tileEnd(j, column+columns)
			do(i, below-i, j, right-j)
			j = right
		}
		i = below
	}
}
