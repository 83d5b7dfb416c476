//go:build unix

package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/cluster/internal/servers"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/musttest"
)

// TestS3 runs all kinds of jobs with an S3 server, or with the bucket in GRAM_BUCKET, and eight
// processes per job. Each task runs once.
func TestS3(t *testing.T) {
	url := servers.StartBucket(t)
	bucket, query, _ := strings.Cut(url, "?")
	url = bucket + "/some/prefix?" + query
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			j := plan(t, url, k)
			var wg sync.WaitGroup
			var mu sync.Mutex
			var reports strings.Builder
			for range 8 {
				wg.Go(func() {
					out := run(t, j.tasks, "gramcluster", "work", "-store", url, "-workers", "1")
					mu.Lock()
					defer mu.Unlock()
					reports.WriteString(out)
				})
			}
			wg.Wait()
			tasks := strings.Count(j.tasks, "\n")
			count := func(state string) int { return strings.Count(reports.String(), `"state":"`+state+`"`) }
			if count("done") != tasks || count("there") != 7*tasks {
				t.Errorf("each of %d tasks isn't done once and there seven times: %s", tasks, &reports)
			}
			j.check(t)
		})
	}
}

// TestS3Writers creates one object from eight goroutines. If the contents differ, one goroutine
// succeeds and all read its contents. If the contents are equal, all succeed. An object of 12 MiB
// is a multipart upload.
func TestS3Writers(t *testing.T) {
	url := servers.StartBucket(t)
	for _, size := range []int{0, 100, 1 << 20, 6 << 20, 12 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			key := fmt.Sprintf("results/%d.a0", size)
			var buckets []store.Bucket
			for range 8 {
				b := musttest.Get(store.OpenBucket(t.Context(), url))(t)
				defer b.Close()
				buckets = append(buckets, b)
			}
			content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, size) }
			all := func(do func(i int) error) (errs []error) {
				errs = make([]error, len(buckets))
				var wg sync.WaitGroup
				for i := range buckets {
					wg.Go(func() { errs[i] = do(i) })
				}
				wg.Wait()
				return errs
			}
			winner, winners := 0, 0
			for i, err := range all(func(i int) error { return buckets[i].Create(t.Context(), key, [][]byte{content(i)}) }) {
				switch {
				case err == nil:
					winner = i
					winners++
				case !errors.Is(err, store.ErrExists):
					t.Logf("writer %d: %v", i, err) // the server may cut the connection
				}
			}
			if winners != 1 {
				t.Fatalf("%d writers succeed, want one", winners)
			}
			for i, b := range buckets {
				r, n, err := b.Open(t.Context(), key)
				musttest.NoError(t, err)
				found, err := io.ReadAll(r)
				r.Close()
				if err != nil || n != int64(size) || !bytes.Equal(found, content(winner)) {
					t.Errorf("reader %d: %d bytes, error %v, expected the %d of writer %d", i, len(found), err, size, winner)
				}
			}
			for i, err := range all(func(i int) error {
				_, err := store.New(buckets[i]).Put(t.Context(), fmt.Sprintf("equal/%d", size), content(0))
				return err
			}) {
				if err != nil {
					t.Errorf("equal bytes, writer %d: %v", i, err)
				}
			}
		})
	}
}
