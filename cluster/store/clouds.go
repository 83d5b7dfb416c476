//go:build !nocloud

package store

// Clouds' own libraries are 850 packages, none of whose goroutines is ours: the race detector goes without them.
import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
