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

type loadedModel struct {
	model     learn.Model
	about     learn.About
	predictor learn.Predictor
	err       error
}

// engineMemoryFactor is the estimated memory of a prediction, in multiples of the model file's
// size. bytesPerText is the estimated memory of texts, in bytes per stored value of the documents.
const engineMemoryFactor, bytesPerText = 5, 10

// load reads the model and the documents concurrently, because decompression uses only one CPU. The
// text reader waits for the model's vocabulary before it maps words to columns.
func (r *predict) load(ctx context.Context, e *cli.Env, p *cli.Progress) (*loadedModel, *corpus.Corpus, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alone := make(chan *loadedModel, 1)   // model without a predictor
	readied := make(chan *loadedModel, 1) // model with its predictor
	form := make(chan corpus.FormatOptions, 1)
	count := &pendingCount{done: make(chan struct{})}
	makeReady := func(out *loadedModel, documents int64) (learn.Predictor, error) {
		return r.prepareModel(ctx, p, out.model, count, predictionBytes(&out.about)+documents)
	}
	// The model, which isn't read yet, may accept negative values. If it doesn't, embedding fails
	// later.
	r.Signed = true
	if info, err := os.Stat(r.model); err == nil {
		r.OtherBytes = info.Size() // estimate: a model takes about as much memory as its file
		r.Need = func(s corpus.Size) int64 {
			need := s.Bytes() + engineMemoryFactor*r.OtherBytes
			if r.KeepTexts > 0 {
				need += bytesPerText * s.Values
			}
			return need
		}
	}
	r.Tokenizer = &corpus.Tokenizer{}
	go func() {
		out := &loadedModel{}
		out.model, out.err = learn.Load(ctx, r.model, func(t corpus.Tokenizer, f corpus.FormatOptions) {
			*r.Tokenizer = t
			form <- f
		})
		close(form)
		if out.err != nil {
			cancel() // stops reading documents, because there is no model
		} else {
			out.about = out.model.About()
		}
		alone <- out
		ready := *out
		if ready.err == nil && r.Memory == 0 { // -m delays preparation until the documents' size is known
			ready.predictor, ready.err = makeReady(out, r.ReadLimitBytes()/2)
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
			return nil, errTextForVectors
		}
		return out.about.Vocabulary, nil
	}
	r.Documents.TrainingForm = <-form
	c, readErr := r.Read(ctx, e, p)
	if readErr == nil {
		count.n = c.Documents.Rows()
	}
	close(count.done)
	out := <-readied
	switch {
	case out.model == nil: // the error of [learn.Load] names the file
		return nil, nil, fmt.Errorf("-model %w", out.err)
	case out.err != nil:
		return nil, nil, fmt.Errorf("-model %s: %w", r.model, out.err)
	case errors.Is(readErr, errTextForVectors) && out.about.Kernel == model.Precomputed:
		return nil, nil, fmt.Errorf("%s contains text, but %s was trained on a precomputed "+
			"kernel and needs rows of kernel values", r.Source, r.model)
	case errors.Is(readErr, errTextForVectors):
		return nil, nil, fmt.Errorf("%s contains text, but %s was trained on vectors", r.Source, r.model)
	case readErr != nil:
		return nil, nil, readErr
	case c.Vocabulary == nil && out.about.Vocabulary != nil:
		return nil, nil, fmt.Errorf("%s contains vectors, but %s was trained on text", r.Source, r.model)
	case r.ZeroBased == "true" && out.about.Form.ZeroBased == "false":
		return nil, nil, fmt.Errorf("-zero-based true contradicts the LIBSVM model %s, whose indices start from 1", r.model)
	case out.predictor != nil:
		out.predictor = out.predictor.WithHeldBytes(predictionBytes(&out.about) + c.Bytes())
	default:
		if out.predictor, out.err = makeReady(out, c.Bytes()); out.err != nil {
			return nil, nil, fmt.Errorf("-model %s: %w", r.model, r.RaiseToTotalNeed(out.err, c))
		}
	}
	return out, c, nil
}

// pendingCount holds the number n of documents, or 0 if reading failed. n is valid after done is
// closed.
type pendingCount struct {
	n    int
	done chan struct{}
}

// device copies the support vectors to the GPU. It returns nil if kernel values are computed on the
// CPU. If the back end depends on the number of documents, it waits until the number is known.
func (r *predict) device(
	ctx context.Context, support *sparse.Embedded, documents *pendingCount,
) (engine.Device, error) {
	if !r.OnGPU() {
		if !r.DependsOnSize() {
			return nil, nil
		}
		select {
		case <-documents.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if r.BackendForPairs(float64(documents.n)*float64(support.Rows())) != backend.CUDA {
			return nil, nil
		}
	}
	return r.LoadDocuments(ctx, support)
}

var errTextForVectors = errors.New("the model was trained on vectors, not on text")
