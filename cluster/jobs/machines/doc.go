// Package machines holds code shared by kinds of job that train support vector machines: flags,
// settings in a description, and the preparation of documents.
package machines
