package store

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/memblob" // mem://
)

// Open opens the store at an address:
//
//	file:///DIR or DIR                       a folder
//	s3://BUCKET/PREFIX?region=…&endpoint=…   S3 and compatible services
//	gs://BUCKET/PREFIX                       Google Cloud Storage
//	azblob://CONTAINER/PREFIX                Azure
//	mem://                                   memory of this process, for tests
//
// Parameters are documented in gocloud.dev/blob. Credentials come from the libraries' default
// sources: environment, files, or the role of the computer. An address that may contain credentials
// is rejected, and the error omits it. A folder must already contain a store.
func Open(ctx context.Context, address string) (*Store, error) { return open(ctx, address, false) }

// Create is like [Open], but the first write creates a missing folder. Buckets must exist.
func Create(ctx context.Context, address string) (*Store, error) { return open(ctx, address, true) }

func open(ctx context.Context, address string, create bool) (*Store, error) {
	p, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	b, err := p.open(ctx, create)
	if err != nil {
		return nil, fmt.Errorf("store: %w", redactedError{err})
	}
	return &Store{b, p.String()}, nil
}

// OpenBucket is like [Create], but returns the store's [Bucket].
func OpenBucket(ctx context.Context, address string) (Bucket, error) {
	s, err := Create(ctx, address)
	if err != nil {
		return nil, err
	}
	return s.bucket, nil
}

func (p location) open(ctx context.Context, create bool) (Bucket, error) {
	if p.bucket == nil {
		return openFolder(p.folder, create)
	}
	b, err := blob.OpenBucket(ctx, p.bucket.String())
	if err != nil {
		return nil, err
	}
	if p.prefix != "" {
		b = blob.PrefixedBucket(b, p.prefix+"/")
	}
	return cloudBucket{b}, nil
}
