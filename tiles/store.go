package tiles

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/tiles/atomicfile"
	"github.com/minio/sha256-simd"
)

// Piece names a rectangle of a matrix: rows Row to Row+Rows-1 in columns Column to Column+Cols-1.
type Piece struct {
	// Matrix is a digest of everything that the bits of the matrix depend on: documents, embedding,
	// way of computing.
	Matrix [32]byte
	Row    int
	Rows   int
	Column int
	Cols   int
}

// Store keeps pieces of matrices in a folder, one file each, so that a later run finds what an
// earlier one has computed. A Store is made by [OpenStore] and may be used concurrently.
//
// Whatever happens to a file, Load never returns wrong values: a file that isn't exactly what Save
// wrote for that very piece is an error, and the caller computes the piece again. Files have a
// temporary name until they are complete. So a process that is killed leaves none that is half
// written, and several processes may share a folder: the last one replaces a file by an equal one.
// Nothing waits for the disk: after a power failure a file may be short or hold zeros, which Load
// finds like any other damage.
type Store struct {
	dir    string
	create func(path string) (file, error) // tests make it fail
}

// file is what Save asks of an *atomicfile.File.
type file interface {
	io.Writer
	CommitUnsynced() error
	Abort()
}

// Temporary files, where the system needs them, are called after making.
const (
	making = "making-"
	suffix = ".tile"
)

// ErrDamaged is wrapped by what Load returns for a file that isn't what Save wrote.
var ErrDamaged = errors.New("damaged tile file")

// OpenStore returns a store in a folder, which it makes where there is none. It removes temporary
// files that killed processes left there, and nothing else.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("tiles: %w", err)
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, fmt.Errorf("tiles: %w", err)
	}
	atomicfile.Sweep(dir, making+"*")
	return &Store{dir, func(path string) (file, error) { return atomicfile.Create(path, making+"*") }}, nil
}

// Owns reports whether a store in a file's folder may replace or remove a file of that name.
func Owns(name string) bool {
	return strings.HasPrefix(name, making) || strings.HasSuffix(name, suffix)
}

// path returns the file of a piece. Its name is the SHA-256 of the header, which says all about the
// piece.
func (s *Store) path(p Piece) string {
	name := sha256.Sum256(p.header())
	return filepath.Join(s.dir, hex.EncodeToString(name[:])+suffix)
}

// Load reads a piece into rows: row(i), 0 <= i < Rows, returns where row i of the piece goes, at
// least Cols values. Load calls it once for each row, in order, unless rows have no values. A row
// that is shorter, a nil row, and a piece with a negative number or with more values than a slice
// holds are errors.
//
// After an error the rows hold anything. An error that wraps fs.ErrNotExist says that there is no
// file, one that wraps [ErrDamaged] that there is a wrong one. After any error the piece can be
// computed and saved again.
func (s *Store) Load(p Piece, row func(i int) []float32) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("tiles: Load: %w", err)
	}
	path := s.path(p)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("tiles: %w", err)
	}
	defer f.Close()
	if err := p.read(f, row); err != nil {
		return fmt.Errorf("tiles: %s: %w", path, err)
	}
	return nil
}

// Save writes a piece: row(i) returns the values of row i, at least Cols of them, as for
// [Store.Load]. After an error, such as that of a full disk, or a panic of row, there is either no
// file or a complete earlier one, and no temporary file.
func (s *Store) Save(p Piece, row func(i int) []float32) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("tiles: Save: %w", err)
	}
	f, err := s.create(s.path(p))
	if err != nil {
		return fmt.Errorf("tiles: %w", err)
	}
	defer f.Abort()
	if err := p.Write(f, row); err != nil {
		return err
	}
	if err := f.CommitUnsynced(); err != nil {
		return fmt.Errorf("tiles: %w", err)
	}
	return nil
}

// Missing reports whether an error of Load means no more than that the piece was never saved.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
