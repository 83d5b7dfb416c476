// Package archive reads and writes model files. A file consists of
//
//	gram linear 1                    the name of the format and its version
//	{"loss":"hinge",…}               the header, a JSON object on one line
//	arrays                           little-endian, without gaps
//	32 bytes                         the SHA-256 of all preceding bytes
//
// A learner describes its file once, for both reading and writing. The Describe function of a
// [Format] lists the keys of the header and then the arrays, in file order. For each key or array,
// it passes a pointer to a field of the model. For example
//
//	var Format = archive.Format[Model]{
//		Package: "means", Name: "gram means ", Validate: (*Model).Validate,
//		Describe: func(f *archive.File, m *Model) {
//			f.Parameters(&m.Settings)
//			f.Origin(&m.Origin)
//			terms := f.Embedding(&m.Embedder)
//			archive.Array(f, "weights", &m.Weights, len(m.Classes), terms)
//		},
//	}
//
//	func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
//
// [Array] and [Table] describe arrays. [File.Section] describes any other data. When reading, a
// call for a key sets the value before it returns. Arrays are set after Describe has returned and
// the checksum has been verified. So only functions passed to [Table] or [File.Section] can use the
// preceding arrays. Memory for reading is proportional to the size of the file, whatever sizes its
// header claims.
//
// Package archivetest tests and fuzzes a format.
package archive
