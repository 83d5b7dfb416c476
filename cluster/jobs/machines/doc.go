// Package machines holds the code shared by jobs that train support vector machines: flags,
// settings in a description, and preparation of documents.
package machines
