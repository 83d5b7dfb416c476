// Package landmark trains kernel classifiers on up to a million documents on one computer. A
// decision function is a weighted sum of kernel values with a subset of the documents, the
// landmarks.
package landmark
