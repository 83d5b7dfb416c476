//go:build !nocloud

package store_test

import (
	"errors"
	"fmt"
	"io"
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

// tried counts requests to a service. The service rejects three requests with a retry delay of 1
// ms, because clients would otherwise wait for seconds. Then it closes the connection.
var tried atomic.Int64

// TestMain sets variables that the Azure library reads once.
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

// Addresses without credentials are accepted, even folders with unusual names.
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

// If a service closes the connection, the error contains no SAS token.
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

// s3 returns a store whose service responds with the handler answer.
func s3(t *testing.T, answer http.HandlerFunc) *store.Store {
	t.Helper()
	service := httptest.NewServer(answer)
	t.Cleanup(service.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	t.Setenv("AWS_REGION", "nowhere-1")
	s := musttest.Get(store.Open(t.Context(), "s3://bucket?use_path_style=true&endpoint="+service.URL+
		"&request_checksum_calculation=when_required&response_checksum_validation=when_required"))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// An S3 response that isn't a list page is an error, not an empty list. A truncated page without a
// marker for the next page is also an error.
func TestListIsWhole(t *testing.T) {
	page := `<?xml version="1.0"?><ListBucketResult><IsTruncated>%s</IsTruncated><Contents><Key>jobs/x.a0</Key>` +
		`<LastModified>2024-01-01T00:00:00.000Z</LastModified><Size>5</Size></Contents></ListBucketResult>`
	for body, whole := range map[string]bool{
		fmt.Sprintf(page, "false"): true, fmt.Sprintf(page, "true"): false, "": false, "upstream busy": false,
		`<?xml version="1.0"?><Error><Code>InternalError</Code></Error>`: false, `<?xml version="1.0"?>` + "\n": false,
		"<html><body>maintenance</body></html>": false, `{"items":[`: false,
	} {
		s := s3(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		objects := 0
		err := s.List(t.Context(), "jobs/", func(store.Object) error { objects++; return nil })
		if (err == nil) != whole || whole && objects != 1 {
			t.Errorf("%q: %d objects, error %v", body, objects, err)
		}
	}
}

// If a service closes the connection within an object, the object is neither damaged nor missing.
func TestHangUpWithinAnObject(t *testing.T) {
	var object []byte
	whole := false
	s := s3(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			object = musttest.Get(io.ReadAll(r.Body))(t)
		case !strings.HasSuffix(r.URL.Path, "x.a0"):
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		default:
			w.Header().Set("Content-Length", fmt.Sprint(len(object)))
			w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
			if whole {
				w.Write(object)
				return
			}
			w.Write(object[:len(object)-3])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	put(t, s, "x", []byte("some bytes"))
	_, err := s.Get(t.Context(), "x", nil)
	if damaged := (*store.DamagedError)(nil); err == nil || errors.As(err, &damaged) || errors.Is(err, store.ErrMissing) {
		t.Errorf("%v, expected an error that says neither damaged nor missing", err)
	}
	musttest.WantError(s.Get(t.Context(), "y", nil))(t, "a missing object", store.ErrMissing)
	whole = true
	if b, err := s.Get(t.Context(), "x", nil); err != nil || string(b) != "some bytes" {
		t.Errorf("%q, %v", b, err)
	}
}

// If Google denies access, objects are neither missing nor deleted.
func TestDenied(t *testing.T) {
	status := http.StatusForbidden
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/o") {
			io.WriteString(w, `{"items":[{"name":"jobs/x.a0","size":"5","updated":"2024-01-01T00:00:00Z"}]}`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":"no"}}`, status)
	}))
	defer service.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(service.URL, "http://"))
	s := musttest.Get(store.Open(t.Context(), "gs://bucket?anonymous=true"))(t)
	defer s.Close()
	musttest.WantError(s.Delete(t.Context(), "jobs/"))(t, "an object that can't be deleted")
	if _, err := s.Get(t.Context(), "jobs/x", nil); err == nil || errors.Is(err, store.ErrMissing) {
		t.Errorf("%v, expected an error that doesn't say missing", err)
	}
	status = http.StatusNotFound
	musttest.WantError(s.Get(t.Context(), "jobs/x", nil))(t, "a missing object", store.ErrMissing)
}
