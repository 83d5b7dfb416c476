//go:build unix

package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// StartBucket returns the URL of a bucket: the value of GRAM_BUCKET if this variable is set.
// Otherwise, it starts versitygw, an S3 server that stores objects in a folder, sets the AWS
// credentials in the environment, and returns the URL of an empty bucket.
//
// The go command builds and caches the server. versitygw/go.mod determines the server's version.
func StartBucket(t testing.TB) (url string) {
	t.Helper()
	if url := os.Getenv("GRAM_BUCKET"); url != "" {
		return url
	}
	RequireServers(t)
	build := exec.Command("go", "tool", "-n", "versitygw")
	build.Dir = sourcePath("versitygw")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	var why strings.Builder
	build.Stderr = &why
	binary, err := build.Output()
	if err != nil {
		t.Fatalf("cannot build the S3 server versitygw from the Go module proxy: %v\n%s", err, &why)
	}

	const access, secret = "gram-test", "not-a-secret"
	t.Setenv("AWS_ACCESS_KEY_ID", access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_REGION", "us-east-1")
	root, sidecar := t.TempDir(), t.TempDir() // sidecar replaces extended attributes, which some file systems lack
	if err := os.Mkdir(filepath.Join(root, "gram-test"), 0o755); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	server := exec.Command(strings.TrimSpace(string(binary)), "-q", "--port", address, "posix", "--sidecar", sidecar, root)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+access, "ROOT_SECRET_KEY="+secret)
	start(t, server, acceptsConnections(address))
	return fmt.Sprintf("s3://gram-test?endpoint=http://%s&use_path_style=true", address)
}
