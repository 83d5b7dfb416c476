// Package archive is the mechanism of model files. A file is
//
//	gram linear 1                    the name of its form and the version
//	{"loss":"hinge",…}               the header, a JSON object in one line
//	arrays                           without gaps, little-endian
//	32 bytes                         the SHA-256 of all bytes before them
//
// A learner describes its file once, and the same statements write and read it: a [Format] has a function
// that names, in the order of the file, the keys of the header and then the arrays, each with the place of the
// model that it is of. For example
//
//	var Form = archive.Format[Model]{
//		Package: "means", Name: "gram means ", Validate: (*Model).Validate,
//		Describe: func(f *archive.File, m *Model) {
//			f.Parameters(&m.Settings)
//			f.Origin(&m.Origin)
//			terms := f.Embedding(&m.Embedder)
//			archive.Array(f, "weights", &m.Weights, len(m.Classes), terms)
//		},
//	}
//
//	func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
//
// [Array] and [Table] describe arrays, [File.Part] all others. When a file is read, keys have their values
// when their statement returns, and arrays when the description has ended and the checksum has been
// checked: only a function passed to [Table] or [File.Part] sees the arrays before its own. A file that
// says it is larger than it is costs no more memory than what is there.
//
// Package archivetest tests such a file in one call, and fuzzes its reader in another.
package archive
