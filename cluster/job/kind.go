package job

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// Kind is a kind of job, such as gram. Its functions may be called concurrently.
type Kind struct {
	Name    string // as in `gramcluster plan NAME`
	Summary string // one line
	Help    string // a few lines: what a task is, what gather writes, an example; flags are listed by themselves

	// Declare declares the flags of plan, beside those that all kinds have (-store, -in and how it
	// is read, -isa, -workers, -m), and returns what takes their values.
	Declare func(f *flag.FlagSet) Planner

	// Open makes what tasks of a job have in common, such as an engine, from its description alone.
	Open func(ctx context.Context, j *Job) (Worker, error)

	// Gather makes what was asked for of all results. A result that is missing or damaged is an
	// error for which [Missing] is true, and nothing is left behind. Its caller has seen that all
	// results are listed.
	Gather func(ctx context.Context, j *Job, out *Output) error
}

// Planner is the values of a kind's flags.
type Planner interface {
	// Plan checks the flags and returns what the description says of them, as a struct that JSON
	// makes a text of, and the number of tasks.
	Plan(ctx context.Context, p *Planning) (spec any, tasks int, err error)
}

// Reader is implemented by a [Planner] that has a say in how documents are read, such as predict,
// whose model has the vocabulary.
type Reader interface {
	Reading(ctx context.Context, opt *corpus.Options) error
}

// Divider is implemented by a [Planner] that stores documents itself, such as predict, whose tasks
// have some documents each: then Planning.Corpus isn't stored, and the description names none.
type Divider interface{ Divided() }

// Driver is implemented by a [Planner] of several jobs, each planned from the results of those before,
// such as landmarks. A command drives it, after Plan, which only checks the flags.
type Driver interface {
	Drive(ctx context.Context, d *Driving) error
}

// Driving is what a [Driver] drives with.
type Driving struct {
	Planning
	ISA    string
	Output *Output

	// Do returns when the results of all tasks are there. Those that are damaged are done again.
	Do func(ctx context.Context, j *Job) error
}

// Planning is what a [Planner] plans with.
type Planning struct {
	Host   *Host
	Source string         // what -in says; empty where it wasn't given
	Corpus *corpus.Corpus // the documents, which are then stored but for a [Divider]; nil without -in
	Digest string         // of the corpus, for a [Driver]: Plan comes before it is stored
	Warn   func(format string, args ...any)
}

// Worker does tasks of one job, one after the other.
type Worker interface {
	// Do returns the result of a task: the bytes of all parts together, which depend on the
	// description and the number alone. They are the caller's until the next call.
	Do(ctx context.Context, task int) ([][]byte, error)
	Close() error
}

// Output is where Gather writes.
type Output struct {
	Path string // a file, or a folder for kinds that have such a form
	To   string // the form, "" for that of the path's ending or the kind's only one
	Say  func(format string, args ...any)

	// Progress is called now and then.
	Progress func(done, total int64)
}

// File writes the file of Path, which is there when all of it is.
func (o *Output) File(write func(w io.Writer) error) error {
	f, err := atomicfile.Create(o.Path, "")
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// KindOf returns the kind of a name.
func KindOf(kinds []Kind, name string) (Kind, error) {
	var names []string
	for _, k := range kinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("job: kind %q, expected one of %s", name, strings.Join(names, ", "))
}
