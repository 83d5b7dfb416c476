package learners

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/sparse"
)

// loaded is a model with its predictor.
type loaded struct {
	m         learn.Model
	about     learn.About
	predictor learn.Predictor
	err       error
}

// engineOfModel is the estimated memory of a prediction, in multiples of the model file's size.
// textBytes is the estimated memory of texts, in bytes per stored value of the documents.
const engineOfModel, textBytes = 5, 10

// load reads the model and the documents concurrently, because decompression uses only one CPU. The
// text reader waits for the model's vocabulary before it maps words to columns.
func (r *predict) load(ctx context.Context, e *cli.Env, p *cli.Progress) (*loaded, *corpus.Corpus, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alone := make(chan *loaded, 1)   // model without predictor
	readied := make(chan *loaded, 1) // model with predictor
	form := make(chan corpus.Form, 1)
	count := &readDocuments{done: make(chan struct{})}
	makeReady := func(out *loaded, documents int64) (learn.Predictor, error) {
		return r.ready(ctx, p, out.m, count, heldBesides(&out.about)+documents)
	}
	// The model, which isn't read yet, may accept negative values. If it doesn't, embedding fails
	// later.
	r.Signed = true
	if info, err := os.Stat(r.model); err == nil {
		r.Held = info.Size() // estimate: a model needs about as much memory as its file
		r.Need = func(s corpus.Size) int64 {
			need := s.Bytes() + engineOfModel*r.Held
			if r.KeepTexts > 0 {
				need += textBytes * s.Values
			}
			return need
		}
	}
	r.Tokenizer = &corpus.Tokenizer{}
	go func() {
		out := &loaded{}
		out.m, out.err = learn.Load(ctx, r.model, func(t corpus.Tokenizer, f corpus.Form) {
			*r.Tokenizer = t
			form <- f
		})
		close(form)
		if out.err != nil {
			cancel() // stops reading documents, because there is no model
		} else {
			out.about = out.m.About()
		}
		alone <- out
		ready := *out
		if ready.err == nil && r.Memory == 0 { // otherwise the model is prepared when the documents' memory is known
			ready.predictor, ready.err = makeReady(out, r.Bytes()/2)
			if memory := (*engine.MemoryError)(nil); errors.As(ready.err, &memory) {
				ready.err = nil
			}
		}
		if ready.err != nil {
			cancel()
		}
		readied <- &ready
	}()
	r.VocabularyLater = func() ([]string, error) {
		out := <-alone
		if out.err != nil {
			return nil, out.err
		}
		if out.about.Vocabulary == nil {
			return nil, errKind
		}
		return out.about.Vocabulary, nil
	}
	r.Documents.Form = <-form
	c, readErr := r.Read(ctx, e, p)
	if readErr == nil {
		count.n = c.Documents.Rows()
	}
	close(count.done)
	out := <-readied
	switch {
	case out.m == nil: // the error of [learn.Load] names the file
		return nil, nil, fmt.Errorf("-model %w", out.err)
	case out.err != nil:
		return nil, nil, fmt.Errorf("-model %s: %w", r.model, out.err)
	case errors.Is(readErr, errKind) && out.about.Kernel == model.Precomputed:
		return nil, nil, fmt.Errorf("%s contains text, but %s was trained on a precomputed "+
			"kernel and needs rows of kernel values", r.In, r.model)
	case errors.Is(readErr, errKind):
		return nil, nil, fmt.Errorf("%s contains text, but %s was trained on vectors", r.In, r.model)
	case readErr != nil:
		return nil, nil, readErr
	case c.Vocabulary == nil && out.about.Vocabulary != nil:
		return nil, nil, fmt.Errorf("%s contains vectors, but %s was trained on text", r.In, r.model)
	case r.ZeroBased == "true" && out.about.Form.ZeroBased == "false":
		return nil, nil, fmt.Errorf("-zero-based true contradicts the LIBSVM model %s, whose indices start from 1", r.model)
	case out.predictor != nil:
		out.predictor = out.predictor.Holding(heldBesides(&out.about) + c.Bytes())
	default:
		if out.predictor, out.err = makeReady(out, c.Bytes()); out.err != nil {
			return nil, nil, fmt.Errorf("-model %s: %w", r.model, r.Whole(out.err, c))
		}
	}
	return out, c, nil
}

// readDocuments holds the number n of documents, or 0 if reading failed. n is valid after done is
// closed.
type readDocuments struct {
	n    int
	done chan struct{}
}

// device copies the support vectors to the GPU. device returns nil if kernel values are computed on
// the CPU. If the back end depends on the number of documents, device waits for this number.
func (r *predict) device(
	ctx context.Context, support *sparse.Embedded, documents *readDocuments,
) (engine.Device, error) {
	if !r.OnGPU() {
		if !r.Chooses() {
			return nil, nil
		}
		select {
		case <-documents.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if r.Pairs(float64(documents.n)*float64(support.Rows())) != backend.CUDA {
			return nil, nil
		}
	}
	return r.Load(ctx, support)
}

// errKind is returned for a source of text if the model was trained on vectors.
var errKind = errors.New("the model was trained on vectors, not on text")
