package tiles_test

import (
	"bytes"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/tiles"
)

func TestDoors(t *testing.T) {
	piece := tiles.Piece{Rows: 2, Cols: 3}
	values := make([]float32, 6)
	row := func(i int) []float32 { return values[3*i : 3*i+3] }
	store := musttest.Get(tiles.OpenStore(t.TempDir()))(t)
	musttest.Do(t, store.Save(piece, row))
	var file bytes.Buffer
	musttest.Do(t, piece.Write(&file, row))
	written := func() *bytes.Reader { return bytes.NewReader(file.Bytes()) }
	doortest.Run(t, doortest.Package{
		Good: []any{piece, store},
		Calls: [][]any{
			{tiles.NewCache, 8, 1 << 20},
			{tiles.TileBytes}, {tiles.Digest}, {tiles.Make, 7}, {tiles.MakeContext, 7},
			{tiles.OpenStore, "new"},
			{tiles.Owns}, {tiles.Missing}, {"Store.Add", written}, {"Store.Load", piece, row}, {"Store.Save", piece, row},
			{"Piece.Write", &bytes.Buffer{}, row},
		},
		Elsewhere: map[string]string{
			"Cache.Lookup": "TestCacheOutOfTurn", "Cache.Claim": "TestCacheOutOfTurn", "Cache.Complete": "TestCacheOutOfTurn",
			"Cache.Abandon": "TestCacheOutOfTurn", "Cache.Release": "TestCacheOutOfTurn",
		},
	})
}
