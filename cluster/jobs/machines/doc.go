// Package machines has what the kinds of job share that train support vector machines: flags, settings
// as a description has them, and the documents made ready.
package machines
