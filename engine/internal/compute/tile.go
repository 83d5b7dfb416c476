package compute

import (
	"fmt"

	"github.com/gramengine/gram/engine/device"
)

// RequestPairCount returns the number of pairs that r requests in rows first <= i < end and columns
// lo <= j < hi.
func RequestPairCount(r *device.Request, first, end, lo, hi int) (pairs int64) {
	if !r.UpperOnly {
		return int64(end-first) * int64(hi-lo)
	}
	for _, d := range r.RowIndices[first:end] {
		pairs += int64(max(hi-max(lo, d), 0))
	}
	return pairs
}

// Lines returns the number, length and stride of a tile's contiguous lines, which are rows or
// columns.
func Lines(t *device.Tile) (lines, length, stride int) {
	if t.ColStride == 1 {
		return t.Rows, t.Cols(), t.RowStride
	}
	return t.Cols(), t.Rows, t.ColStride
}

// SubTile returns the part of a tile with rows first <= r < end and columns lo <= j < hi. Rows and
// columns are numbered as in the request. The ranges must be within the tile.
func SubTile(t *device.Tile, first, end, lo, hi int) device.Tile {
	part := *t
	part.FirstRow, part.Rows, part.Lo, part.Hi = first, end-first, lo, hi
	part.Values = t.Values[(first-t.FirstRow)*t.RowStride+(lo-t.Lo)*t.ColStride:]
	_, length, _ := Lines(t)
	_, now, _ := Lines(&part)
	part.PaddingValid = t.PaddingValid && now == length
	return part
}

func checkTile(t *device.Tile, r *device.Request) error {
	if t.FirstRow < 0 || t.Rows < 1 || t.Rows > len(r.RowIndices)-t.FirstRow {
		return fmt.Errorf("engine: back end returned %d rows from row %d on, but the request has %d rows", t.Rows, t.FirstRow,
			len(r.RowIndices))
	}
	if t.Lo < r.Lo || t.Hi <= t.Lo || t.Hi > r.Hi {
		return fmt.Errorf("engine: back end returned columns [%d, %d), which are not within [%d, %d)",
			t.Lo, t.Hi, r.Lo, r.Hi)
	}
	lines, length, stride := Lines(t)
	if t.RowStride != 1 && t.ColStride != 1 || lines > 1 && stride < length || len(t.Values) < length ||
		lines > 1 && (len(t.Values)-length)/(lines-1) < stride ||
		t.PaddingValid && (t.ColStride == 1 || len(t.Values)/stride < lines) {
		return fmt.Errorf("engine: back end returned %d values with strides %d and %d, not enough for %d rows and %d columns",
			len(t.Values), t.RowStride, t.ColStride, t.Rows, t.Cols())
	}
	return nil
}
