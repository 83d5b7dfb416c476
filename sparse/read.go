package sparse

import "context"

// Options says how [Read] reads. The zero value works.
type Options struct {
	Format       Format         // default FormatAuto: from the name and the first bytes
	Workers      int            // goroutines; default runtime.GOMAXPROCS(0)
	MinDF        int            // least document frequency of a term; default 2 for text, 1 for vectors
	MaxDF        int            // greatest document frequency of a term; default no limit
	Vocabulary   []string       // if not nil: the terms to count, all others are left out (test documents)
	Signed       bool           // accept negative values; by default a negative count is an error
	MaxLineBytes int            // longest line accepted; default 64 MiB
	Progress     func(Progress) // called at most every 100 ms, never concurrently; default none
}

// Progress tells how far a reader is.
type Progress struct {
	Done, Total int64 // bytes as stored; Total is 0 where it isn't known
	Documents   int64 // documents so far
}

// Format is a format that [Read] reads.
type Format string

// The formats.
const (
	FormatAuto         Format = ""             // from the name and the first bytes
	FormatSVMLight     Format = "svmlight"     // label index:value ..., as svm-train reads it
	FormatTSV          Format = "tsv"          // label<TAB>text, one document a line
	FormatFolder       Format = "folder"       // one sub-folder a class, one file a document
	FormatMatrixMarket Format = "matrixmarket" // coordinate or array, real, integer or pattern
)

// Read reads the corpus that source names: a file, a folder, "goroot" or "synthetic:...".
func Read(ctx context.Context, source string, opt Options) (*Corpus, error) {
	panic("not written yet")
}
