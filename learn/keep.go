package learn

import (
	"context"
	"io"
	"os"

	"github.com/gramengine/gram/tiles/atomicfile"
)

// state is what a training keeps to go on from.
type state interface {
	comparable
	Write(ctx context.Context, w io.Writer) error
}

// keeping returns the state of an interrupted training in o.State, nil for none, and what keeps states
// there, nil where nothing shall be. after says what a training has finished.
func keeping[S state](
	ctx context.Context, o *Options, read func(context.Context, io.Reader) (S, error), after func(S) string,
) (resume S, save func(S) error) {
	if o.State == "" {
		return resume, nil
	}
	if f, err := os.Open(o.State); err == nil {
		found, err := read(ctx, f)
		f.Close()
		if err != nil {
			o.Warning("%s: %v: training starts from the beginning, and saves no state there", o.State, err)
			return resume, nil
		}
		resume = found
		o.Saying("%s holds a training after %s: it resumes if corpus and settings are the same", o.State, after(resume))
	}
	return resume, func(s S) error {
		f, err := atomicfile.Create(o.State, "")
		if err != nil {
			return err
		}
		defer f.Abort()
		if err := s.Write(context.Background(), f); err != nil { // ctx may have ended
			return err
		}
		if err := f.Commit(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			o.Saying("%s holds the training after %s: the same command resumes it", o.State, after(s))
		}
		return nil
	}
}
