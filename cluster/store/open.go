package store

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/memblob" // mem://
)

// Open opens the store of an address:
//
//	file:///DIR or DIR                       a folder
//	s3://BUCKET/PREFIX?region=…&endpoint=…   S3 and what speaks like it
//	gs://BUCKET/PREFIX                       Google Cloud Storage
//	azblob://CONTAINER/PREFIX                Azure
//	mem://                                   memory of this process, for trials
//
// What follows the question mark is that of gocloud.dev/blob. Credentials come from where those
// libraries look for them: environment, files, the machine's role. An address that may hold some is
// refused, and not repeated in the error. A folder that no [Create] has made is an error.
func Open(ctx context.Context, address string) (*Store, error) { return open(ctx, address, false) }

// Create is [Open], but where there is no folder the first write makes one. Buckets must be there.
func Create(ctx context.Context, address string) (*Store, error) { return open(ctx, address, true) }

func open(ctx context.Context, address string, create bool) (*Store, error) {
	p, err := parse(address)
	if err != nil {
		return nil, err
	}
	b, err := p.open(ctx, create)
	if err != nil {
		return nil, fmt.Errorf("store: %w", redacted{err})
	}
	return &Store{b, p.String()}, nil
}

// OpenBucket returns the [Bucket] of [Create].
func OpenBucket(ctx context.Context, address string) (Bucket, error) {
	s, err := Create(ctx, address)
	if err != nil {
		return nil, err
	}
	return s.bucket, nil
}

func (p place) open(ctx context.Context, create bool) (Bucket, error) {
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
	return cloud{b}, nil
}
