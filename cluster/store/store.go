package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Store stores objects in a [Bucket]. It may be used concurrently.
type Store struct {
	bucket Bucket
	name   string
}

// New returns a store in the bucket b. Closing the store closes b.
func New(b Bucket) *Store { return &Store{bucket: b, name: "a bucket"} }

// String returns the store's address without parameters, for messages.
func (s *Store) String() string { return s.name }

// Close closes the store's bucket.
func (s *Store) Close() error { return s.bucket.Close() }

// MaxAttempts is the maximum number of attempts to write an object.
const MaxAttempts = 100

// ErrMissing means that an object has no intact attempt. Errors of [Store.Get] may wrap it.
var ErrMissing = errors.New("missing")

// DamagedError reports that an attempt differs from the bytes written by Put.
type DamagedError struct {
	Key    string // key of the attempt, such as results/…/000017.a0
	Offset int64
	Got    string
	Want   string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store: object %s is damaged at byte %d: found %s, expected %s", e.Key, e.Offset, e.Got, e.Want)
}

// Put stores the concatenated parts as an object. If an intact object with this name exists, Put
// returns true, or an error if the contents differ. If an attempt is damaged, Put creates the next
// attempt, up to [MaxAttempts]. If Put succeeds, the object is complete and durable. Put also fails
// if the name is invalid, the bucket fails, or all attempts are damaged.
func (s *Store) Put(ctx context.Context, name string, parts ...[]byte) (there bool, err error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	var last error
	hidden := 0
	for k := 0; k < MaxAttempts; k++ {
		key := attemptKey(name, k)
		err := s.bucket.Create(ctx, key, append([][]byte{header(key, parts)}, parts...))
		if err == nil {
			return false, nil
		}
		if !errors.Is(err, ErrExists) {
			// The object may exist despite the error: some servers write it and then close the
			// connection.
			if found, e := s.read(ctx, key, nil); e != nil || !equalParts(found, parts) || errors.Is(err, errNotSynced) {
				return false, fmt.Errorf("store: cannot write %s: %w", key, err)
			}
			return true, nil
		}
		var found []byte
		if found, last = s.read(ctx, key, nil); last == nil {
			if !equalParts(found, parts) {
				return true, fmt.Errorf("store: %s exists with different contents: "+
					"two programs computed different results", key)
			}
			return true, nil
		}
		if errors.Is(last, fs.ErrNotExist) && hidden < maxHiddenRetries {
			if err := pause(ctx, time.Millisecond<<hidden); err != nil {
				return false, err
			}
			hidden++
			k-- // tries the same key again
			continue
		}
		if damaged := (*DamagedError)(nil); !errors.As(last, &damaged) {
			return false, last
		}
	}
	return false, fmt.Errorf("store: cannot write %s: the object was damaged in all %d attempts: %w", name, MaxAttempts,
		last)
}

// maxHiddenRetries is the maximum number of retries, within about a second, for an object that
// exists but can't be read yet. While a client creates an object, some servers report that it
// exists before others can read it.
const maxHiddenRetries = 10

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func equalParts(b []byte, parts [][]byte) bool {
	for _, p := range parts {
		if !bytes.HasPrefix(b, p) {
			return false
		}
		b = b[len(p):]
	}
	return len(b) == 0
}

// Get returns the contents of the first intact attempt of an object. It uses the memory of buf if
// buf is large enough. If no attempt is intact, the error wraps [ErrMissing], and a *[DamagedError]
// for each damaged attempt. Other errors come from the bucket.
func (s *Store) Get(ctx context.Context, name string, buf []byte) ([]byte, error) {
	b, _, err := s.get(ctx, name, buf)
	return b, err
}

// Check reads an object like [Store.Get]. It also returns an error for each damaged attempt.
func (s *Store) Check(ctx context.Context, name string, buf []byte) (damaged []error, err error) {
	_, damaged, err = s.get(ctx, name, buf)
	return damaged, err
}

func (s *Store) get(ctx context.Context, name string, buf []byte) (b []byte, bad []error, err error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	_, bad, err = s.firstIntact(name, 0, nil, func(key string) (err error) {
		b, err = s.read(ctx, key, buf)
		return err
	})
	return b, bad, err
}

// firstIntact calls try for the attempts k, k + 1, … of an object until try succeeds. It returns
// the number of the successful attempt. It appends the errors of damaged attempts to bad. If no
// attempt is intact, the error wraps [ErrMissing] and bad. Other errors of try are returned
// immediately.
func (s *Store) firstIntact(name string, k int, bad []error, try func(key string) error) (int, []error, error) {
	for ; k < MaxAttempts; k++ {
		err := try(attemptKey(name, k))
		if err == nil {
			return k, bad, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) {
			return k, bad, err
		}
		bad = append(bad, err)
	}
	if len(bad) > 0 {
		return k, bad, fmt.Errorf("store: object %s is %w: %w", name, ErrMissing, errors.Join(bad...))
	}
	return k, nil, fmt.Errorf("store: object %s is %w", name, ErrMissing)
}

func (s *Store) read(ctx context.Context, key string, buf []byte) (b []byte, err error) {
	r, size, err := s.bucket.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", key, err)
	}
	defer r.Close()
	b, err = readFrame(r, size, key, buf)
	return b, withKey(key, err)
}

// withKey adds the key to an error. It converts a *damagedError to a *[DamagedError].
func withKey(key string, err error) error {
	if bad := (*damagedError)(nil); errors.As(err, &bad) {
		return &DamagedError{key, bad.offset, bad.got, bad.want}
	}
	if err != nil {
		return fmt.Errorf("store: %s: %w", key, err)
	}
	return nil
}

// Object describes an object in a listing.
type Object struct {
	Name        string
	NumAttempts int   // number of stored attempts
	Bytes       int64 // total size of these attempts
}

// List calls yield for each object whose name begins with prefix, in ascending order. It doesn't
// read the objects. It stops at the first error of yield.
func (s *Store) List(ctx context.Context, prefix string, yield func(Object) error) error {
	var now Object
	flush := func() error {
		if now.NumAttempts == 0 {
			return nil
		}
		done := now
		now = Object{}
		return yield(done)
	}
	err := s.bucket.List(ctx, prefix, func(key string, bytes int64) error {
		name, _, ok := splitAttempt(key)
		if !ok {
			return nil // not an object of this package
		}
		if name != now.Name {
			if err := flush(); err != nil {
				return err
			}
			now.Name = name
		}
		now.NumAttempts++
		now.Bytes += bytes
		return nil
	})
	if err == nil {
		err = flush()
	}
	return err
}

// Delete removes the attempts of all objects whose names begin with prefix. It returns the number
// and the total size of these attempts. Results of concurrent reads and writes are undefined.
func (s *Store) Delete(ctx context.Context, prefix string) (attempts int, bytes int64, err error) {
	var keys []string
	err = s.bucket.List(ctx, prefix, func(key string, size int64) error {
		if _, _, ok := splitAttempt(key); ok {
			keys = append(keys, key)
			bytes += size
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	for i, key := range keys {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return i, bytes, fmt.Errorf("store: %s: %w", key, err)
		}
	}
	return len(keys), bytes, nil
}

// Sweep removes the incomplete files that killed processes left in a folder. It does nothing for
// other buckets. No other process may write at the same time.
func (s *Store) Sweep() error {
	if b, ok := s.bucket.(folderBucket); ok {
		return b.sweep()
	}
	return nil
}

func attemptKey(name string, k int) string { return name + ".a" + strconv.Itoa(k) }

func splitAttempt(key string) (name string, k int, ok bool) {
	at := strings.LastIndex(key, ".a")
	if at < 0 {
		return "", 0, false
	}
	k, err := strconv.Atoi(key[at+2:])
	if err != nil || k < 0 || k >= MaxAttempts || attemptKey(key[:at], k) != key || checkName(key[:at]) != nil {
		return "", 0, false
	}
	return key[:at], k, true
}

// checkName checks that every bucket accepts a name: components of letters, digits, '.', '-' and
// '_', separated by slashes.
func checkName(name string) error {
	if len(name) > maxKey/2 {
		return fmt.Errorf("store: a name has %d bytes; the maximum is %d", len(name), maxKey/2)
	}
	for part := range strings.SplitSeq(name, "/") {
		bad := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r))
		}
		if strings.Trim(part, ".") == "" || strings.ContainsFunc(part, bad) {
			return fmt.Errorf("store: name %q may contain only letters, digits, '.', '-', '_' and slashes", name)
		}
	}
	return nil
}
