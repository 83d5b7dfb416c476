package gram

import (
	"context"
	"errors"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/engine"
)

func (s *spec) gatherTiles(ctx context.Context, j *job.Job, k engine.Kernel, out *job.Output) error {
	return errors.New("not yet")
}
