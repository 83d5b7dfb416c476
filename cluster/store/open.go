package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/memblob"   // mem://
	_ "gocloud.dev/blob/s3blob"    // s3://
)

// Open opens the store of a URL:
//
//	file:///DIR or DIR                       a folder, which is made where there is none
//	s3://BUCKET/PREFIX?region=…&endpoint=…   S3 and what speaks like it
//	gs://BUCKET/PREFIX                       Google Cloud Storage
//	azblob://CONTAINER/PREFIX                Azure
//	mem://                                   memory of this process, for trials
//
// What follows the question mark is that of gocloud.dev/blob. Credentials come from where those
// libraries look for them: environment, files, the machine's role. A URL that holds some is refused,
// and not repeated in the error.
func Open(ctx context.Context, address string) (*Store, error) {
	b, err := OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	return New(b), nil
}

// OpenBucket returns the [Bucket] of [Open].
func OpenBucket(ctx context.Context, address string) (Bucket, error) {
	if address == "" {
		return nil, errors.New("store: no address, expected a folder or a URL such as s3://bucket/prefix")
	}
	if !strings.Contains(address, "://") {
		return opened(openFolder(address))
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("store: an address that is no URL") // url.Error repeats it
	}
	if u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("store: a %s:// address with a user, password or fragment, expected none: "+
			"credentials belong into the environment", u.Scheme)
	}
	for name := range u.Query() {
		if secret(name) {
			return nil, fmt.Errorf("store: a %s:// address with %s=…, expected no credentials: "+
				"they belong into the environment", u.Scheme, name)
		}
	}
	prefix := strings.Trim(u.Path, "/")
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" {
			return nil, errors.New("store: a file:// address with a machine or parameters, expected file:///FOLDER")
		}
		return opened(openFolder(u.Path))
	case "s3", "gs", "azblob":
		if u.Host == "" {
			return nil, fmt.Errorf("store: a %s:// address without a bucket, expected %s://BUCKET/PREFIX", u.Scheme, u.Scheme)
		}
	case "mem":
	default:
		return nil, fmt.Errorf("store: a %s:// address, expected file, s3, gs, azblob or mem", u.Scheme)
	}
	if prefix != "" {
		if err := checkName(prefix); err != nil {
			return nil, err
		}
	}
	u.Path = ""
	b, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		// Errors repeat the address, and who knows what its parameters are.
		text := strings.ReplaceAll(err.Error(), u.String(), u.Scheme+"://"+u.Host)
		return nil, fmt.Errorf("store: %s", text)
	}
	if prefix != "" {
		b = blob.PrefixedBucket(b, prefix+"/")
	}
	return cloud{b}, nil
}

func opened(b Bucket, err error) (Bucket, error) {
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return b, nil
}

// secret says whether a parameter of a URL may hold credentials.
func secret(name string) bool {
	name = strings.ToLower(name)
	return name == "sig" || name == "sas" || slices.ContainsFunc(
		[]string{"secret", "password", "token", "credential", "accesskey", "access_key", "private", "api_key", "apikey"},
		func(part string) bool { return strings.Contains(name, part) })
}
