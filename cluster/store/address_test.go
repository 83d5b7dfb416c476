package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/musttest"
)

// Open rejects invalid addresses, and addresses that may contain credentials. No error contains the
// secret.
func TestOpenRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, address := range []string{
		"", "s3://", "ftp://host/x", "file://host/x", "file:///x?a=b", "file://", "s3://bucket/../x", "s3://bucket:1/x",
		"s3:bucket", "S3:/bucket/x", "file:x", "bucket/x?region=eu", "://x", "s3://bucket?prefix=x", "s3://b?regoin=x",

		// Users and passwords, in all positions and encodings.
		"s3://me:hushhush@bucket/x", "s3://hushhush@bucket/x", "s3://me:hushhush@bucket:%%", "me:hushhush@bucket",
		"me:hushhush@bucket/prefix", "dir/me:hush/hush@bucket", "me:hush/hush+x=@b", "me%3Ahushhush%40bucket",
		"file:///me:hushhush@b", "file://me:hushhush@host/x", "s3:/me:hushhush@b", "s3:me:hushhush@b", "mem://me:hushhush@x",
		"s3://bucket/me:hushhush@x", "s3://b?endpoint=http://me:hushhush@host", "s3://b?endpoint=http://hushhush@host",
		"s3://b?endpoint=http%3A%2F%2Fme%3Ahushhush%40host", "s3://b?endpoint=http%253A%252F%252Fme%253Ahushhush%2540host",
		"s3://b?endpoint=http://host?x=hushhush", "s3://b?endpoint=http://host%23hushhush", "azblob://c?domain=me:hushhush@h",

		// Parameters with credentials: services, presigned URLs, SAS tokens, connection strings.
		"s3://bucket?secret_key=hushhush", "s3://bucket?aws_access_key_id=hushhush", "s3://bucket?AWSAccessKeyId=hushhush",
		"s3://b/x?X-Amz-Algorithm=A&X-Amz-Credential=hushhush", "s3://b/x?X-Amz-Signature=hushhush",
		"s3://b/x?x-amz-security-token=hushhush", "gs://b?X-Goog-Signature=hushhush", "gs://b?access_token=hushhush",
		"gs://b?private_key_path=/hushhush", "gs://b?access_id=hushhush", "azblob://c?sas_token=hushhush",
		"azblob://c?sv=2024&se=2030&sig=hushhush", "azblob://c?sig=hush%68ush", "azblob://c?%73ig=hushhush",
		"https://a.blob.core.windows.net/c?sig=hushhush", "http://me:hushhush@host/x", "https://s3.amazonaws.com/hushhush",
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hushhush==;EndpointSuffix=x",
		"SharedAccessSignature=hushhush",
		"dir?sig=hushhush", "dir/sig=hushhush", "password=hushhush", "s3://bucket/x&sig=hushhush", "s3://b#hushhush",
		"s3://bucket?hushhush", "s3://bucket?x=hushhush", "s3://?x=hushhush", "file://host/x?a=hushhush",
		"mem://?nonsense=hushhush", "s3://b?region=%zz&x=hushhush", "bucket?hushhush", "s3://b?region=x;sig=hushhush",
	} {
		s, err := store.Create(t.Context(), address)
		if err == nil {
			s.Close()
			t.Errorf("%q passes", address)
		} else if text := err.Error(); strings.Contains(strings.ReplaceAll(text, "/", ""), "hushhush") {
			t.Errorf("%q: the error repeats the secret: %v", address, err)
		}
		if red := store.Redact(fmt.Sprintf("Put %q: dial tcp", address)); strings.Contains(address, "sig=hushhush") &&
			strings.Contains(red, "hushhush") {
			t.Errorf("%q redacted is %s", address, red)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("refused addresses leave %v, error %v", left, err)
	}
}

// Redact removes exactly the secrets in a text.
func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`Get "https://a.net/c?comp=list&sig=hush%2B&sv=1": dial`: `Get "https://a.net/c?comp=list&sig=…&sv=1": dial`,
		"http://me:hush@host/x and http://hush@host":             "http://…@host/x and http://…@host",
		"me:hush@host": "…@host",
		"x?X-Amz-Security-Token=hush&x=1 X-Goog-Credential=hush, y": "x?X-Amz-Security-Token=…&x=1 X-Goog-Credential=…, y",
		"main.go:12: max_tokens=5, mail me@host at 12:30":           "main.go:12: max_tokens=5, mail me@host at 12:30",
	} {
		if got := store.Redact(text); got != want {
			t.Errorf("%s becomes %s, expected %s", text, got, want)
		}
	}
}

// Open creates no folder. If a folder isn't a store, the error names the folder.
func TestOpenMakesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	musttest.NoError(t, os.WriteFile(file, nil, 0o666))
	for _, open := range []func(context.Context, string) (*store.Store, error){store.Open, store.Create} {
		musttest.WantError(open(t.Context(), file))(t, "a file", file+" or its parent is not a folder")
	}
	for _, address := range []string{filepath.Join(dir, "none"), "file://" + filepath.Join(dir, "none"), dir} {
		_, err := store.Open(t.Context(), address)
		if want := "there is no store in " + strings.TrimPrefix(address, "file://"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected %s", address, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
	made := filepath.Join(dir, "made")
	s := musttest.Get(store.Create(t.Context(), made))(t)
	musttest.WantError(s.Get(t.Context(), "a/b", nil))(t, "a missing object", store.ErrMissing)
	musttest.WantError(os.Stat(made))(t, "a folder before the first write")
	put(t, s, "a/b", nil)
	s = musttest.Get(store.Open(t.Context(), made))(t)
	if err := s.Close(); err != nil || s.String() != made {
		t.Errorf("%s, error %v", s, err)
	}
}
