package tiles

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// gather puts files into the folder one by one, each when it is whole: after an
// error or an interruption those that are there are good, and a training computes the others.
func gather(ctx context.Context, j *job.Job, out *job.Output) error {
	s, _, err := specOf(&j.Description)
	if err != nil {
		return err
	}
	if out.To != "" && out.To != "tiles" {
		return fmt.Errorf("-o %s -to %q, expected -o DIR, a folder for tile files", out.Path, out.To)
	}
	workers := min(j.Host.Workers, j.Tasks)
	if err := j.Host.Fits(nil, s.most(), "a result"); err != nil {
		return err
	}
	if j.Host.Memory > 0 {
		workers = int(min(int64(workers), j.Host.Left(nil)/s.most()))
	}
	to, err := tiles.OpenStore(out.Path)
	if err != nil {
		return err
	}
	results := make([][]byte, workers)
	var done, rows atomic.Int64
	var matrix atomic.Pointer[[32]byte] // of the first file
	err = run.Tasks(ctx, workers, j.Tasks, func(ctx context.Context, w, task int) (err error) {
		if results[w], err = j.Result(ctx, task, results[w]); err != nil {
			return err
		}
		for r := bytes.NewReader(results[w]); r.Len() > 0; {
			p, err := to.Add(r)
			if err != nil {
				return fmt.Errorf("tiles: the result of task %d: %w", task, err)
			}
			if !matrix.CompareAndSwap(nil, &p.Matrix) && *matrix.Load() != p.Matrix {
				return fmt.Errorf("tiles: the result of task %d belongs to the matrix %x, those before to %x: "+
					"machines or programs differ", task, p.Matrix[:6], matrix.Load()[:6])
			}
			rows.Add(int64(p.Rows))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		out.Progress(done.Add(1), int64(j.Tasks))
		return nil
	})
	if got := rows.Load(); err == nil && got != int64(s.Documents) {
		err = fmt.Errorf("tiles: results of %d rows, expected %d", got, s.Documents)
	}
	return err
}
