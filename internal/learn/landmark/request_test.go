package landmark

import (
	"bytes"
	"context"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// With Options.RunPass, the model is bit-identical.
func TestPassElsewhere(t *testing.T) {
	for loss := SquaredError; loss <= SquaredHinge; loss++ {
		c, s := texts(1300, 3, 7, false), Settings{Landmarks: 70, Loss: loss, C: 3}
		for i := range c.Documents.Rows() {
			c.Weights = append(c.Weights, 0.3+float64(i%4)/3)
		}
		var files [2]bytes.Buffer
		passes := 0
		for i, pass := range []func(context.Context, *Request, func(int, *Sums) error) error{
			nil, func(ctx context.Context, q *Request, add func(int, *Sums) error) error {
				passes++
				p, err := NewPassWorker(ctx, c, s, q, Options{})
				if err != nil {
					return err
				}
				defer p.Close()
				for block := range q.NumBlocks() {
					sums, err := p.BlockSums(ctx, block)
					if err == nil {
						err = add(block, sums)
					}
					if err != nil {
						return err
					}
				}
				return nil
			},
		} {
			m := musttest.Get(Train(t.Context(), c, s, Options{Workers: 3, RunPass: pass}))(t)
			musttest.NoError(t, m.Write(t.Context(), &files[i]))
		}
		if passes < 2 || !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%v: after %d passes elsewhere the model differs", loss, passes)
		}
	}
}
