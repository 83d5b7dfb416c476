package gram_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/gramengine/gram"
)

// service answers a text with its class. Requests run concurrently, on a model that can be replaced
// meanwhile.
type service struct{ model atomic.Pointer[gram.Model] }

// use loads a model of any kind, warms it up and lets the next requests have it. Requests under way
// end with the model that they began with; where use fails, the old model stays.
func (s *service) use(ctx context.Context, path string) error {
	m, err := gram.Load(path)
	if err != nil {
		return err
	}
	m = m.With(gram.Options{Workers: 1}) // one goroutine per request
	if err := m.Warm(ctx); err != nil {  // or the first requests would be slow
		return err
	}
	s.model.Store(m)
	return nil
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := s.model.Load().PredictTexts(r.Context(), []string{string(text)})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case 2*p.Known[0] <= p.Words[0]:
		http.Error(w, "most words of the text are unknown", http.StatusUnprocessableEntity)
	default:
		fmt.Fprintln(w, p.Label(0))
	}
}

// A service of any model, which is replaced while it serves.
func ExampleModel_PredictTexts() {
	s := new(service)
	for _, path := range []string{"first-text.model", "tokenizer-ngrams.model"} {
		if err := s.use(context.Background(), "cmd/grambench/testdata/models/"+path); err != nil {
			fmt.Println(err)
			return
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("a purr, milk and a bark")))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 cats
	// 200 cats
}
