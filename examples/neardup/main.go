// Command neardup is a service that finds near-duplicates in a stream of texts.
//
//	neardup -index texts.index -within 0.2
//	curl --data 'the text' localhost:8080
//
// It adds each posted text to an index, and responds with the number of the text and the earlier
// texts within a distance: {"number":2,"near":[{"Document":0,"C":0.05}]}. The index is saved every
// minute and at exit, so that numbers and texts survive a restart.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gramengine/gram"
)

// open loads the index from a file, or makes an empty index if there is no file.
func open(ctx context.Context, path string) (*gram.Index, error) {
	index, err := gram.LoadIndex(ctx, path, gram.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return gram.NewIndex(ctx, nil, gram.IndexOptions{})
	}
	return index, err
}

// service returns a handler that adds texts to the index, and reports the earlier texts near each
// text. It handles one text at a time, so that each text is compared with all earlier texts.
func service(index *gram.Index, within float64) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || r.Method != http.MethodPost {
			http.Error(w, "the request must be a POST of at most 1 MiB", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		near, err := index.Query(r.Context(), []string{string(text)}, gram.IndexQuery{Within: &within})
		var numbers []int
		if err == nil {
			numbers, err = index.Add(r.Context(), string(text))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"number": numbers[0], "near": near[0]}) // fails if the client left
	}
}

func main() {
	path := flag.String("index", "texts.index", "`FILE` of the index")
	within := flag.Float64("within", 0.2, "largest distance c = 1 - cosine of near-duplicates")
	addr := flag.String("addr", "localhost:8080", "listen at `HOST:PORT`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	index, err := open(ctx, *path)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: *addr, Handler: service(index, *within), ReadTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	for err == nil && ctx.Err() == nil {
		select {
		case err = <-failed:
		case <-ctx.Done():
			_ = server.Shutdown(context.WithoutCancel(ctx))
		case <-time.After(time.Minute):
		}
		err = cmp.Or(index.Save(*path), err)
	}
	if err != nil {
		log.Fatal(err)
	}
}
