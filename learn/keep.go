package learn

import (
	"context"
	"os"

	"github.com/gramengine/gram/learn/mkm"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// keeping returns the state of an interrupted training in o.State, nil if there is none, and a function that saves
// states there, nil if o.State is "".
func keeping(ctx context.Context, o *Options) (resume *mkm.State, save func(*mkm.State) error) {
	if o.State == "" {
		return nil, nil
	}
	if f, err := os.Open(o.State); err == nil {
		resume, err = mkm.ReadState(ctx, f)
		f.Close()
		if err != nil {
			o.Warning("%s: %v: training starts from the beginning, and saves no state there", o.State, err)
			return nil, nil
		}
		o.Saying("%s holds a training after %s: it resumes if corpus and settings are the same", o.State, resume)
	}
	return resume, func(s *mkm.State) error {
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
			o.Saying("%s holds the training after %s: the same command resumes it", o.State, s)
		}
		return nil
	}
}
