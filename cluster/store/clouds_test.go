//go:build !nocloud

package store_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/musttest"
)

// tried counts the requests of a service, which hangs up. It first has a client try three times more, at once: by
// itself that waits for seconds.
var tried atomic.Int64

// TestMain sets what the library for Azure reads once.
func TestMain(m *testing.M) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if tried.Add(1) > 3 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("x-ms-retry-after-ms", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	address, _ := url.Parse(service.URL)
	os.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	os.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024-01-01&sig=hushhush")
	os.Setenv("AZURE_STORAGE_DOMAIN", address.Host)
	os.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	os.Setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true")
	m.Run()
}

// Addresses without credentials pass, and folders may have odd names.
func TestOpenTakes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("AWS_REGION", "nowhere-1")
	for address, want := range map[string]string{
		"run": "run", "me@work/run-12.30": "me@work/run-12.30", "12:30": "12:30", "max_tokens=512/tokenizer=word/pass=1": "",
		"s3": "s3", "./a/": "a", "mem://": "mem://", "s3://bucket": "s3://bucket", "100%": "100%",
		"s3://bucket/a/b/?region=eu-1&endpoint=http://127.0.0.1:9000&use_path_style=true": "s3://bucket/a/b",
		"azblob://c/x": "azblob://c/x",
	} {
		s, err := store.Create(t.Context(), address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		if want != "" && s.String() != want {
			t.Errorf("%q is called %s, expected %s", address, s, want)
		}
		s.Close()
	}
}

// The error of a service that hangs up has no SAS token.
func TestErrorsOfServices(t *testing.T) {
	b := musttest.Get(store.OpenBucket(t.Context(), "azblob://c"))(t)
	t.Cleanup(func() { b.Close() })
	for name, do := range map[string]func() error{
		"Open":   func() error { _, _, err := b.Open(t.Context(), "x"); return err },
		"Create": func() error { return b.Create(t.Context(), "x", nil) },
		"List":   func() error { return b.List(t.Context(), "", func(string, int64) error { return nil }) },
		"Delete": func() error { return b.Delete(t.Context(), "x") },
	} {
		t.Run(name, func(t *testing.T) {
			tried.Store(0)
			err := do()
			if err == nil || strings.Contains(err.Error(), "hushhush") || !strings.Contains(err.Error(), "sig=…") {
				t.Errorf("%v, expected an error of a request without its secret", err)
			}
		})
	}
}
