// Package landmark trains kernel classifiers that use the kernel values with only a subset of the
// documents, the landmarks, so that training scales to a million documents on one computer.
package landmark
