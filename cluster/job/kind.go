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
	Name    string // name in `gramcluster plan NAME`
	Summary string // description in one line
	Help    string // help text without the flags: tasks, output of gather, example

	// DeclareFlags adds the kind's flags to f, in addition to the common flags (-store, -in with
	// its options, -isa, -workers, -m). It returns a Planner that receives the flags' values.
	DeclareFlags func(f *flag.FlagSet) Planner

	// Open creates a worker for a job, with the data that tasks share, such as an engine.
	Open func(ctx context.Context, j *Job) (Worker, error)

	// Gather combines all results into the output. If a result is missing or damaged, it returns an
	// error for which [IsMissing] is true, and leaves no output. The caller has checked that the
	// store lists all results.
	Gather func(ctx context.Context, j *Job, out *Output) error
}

// Planner plans a job from the values of a kind's flags.
type Planner interface {
	// Plan checks the flags. It returns the number of tasks and the value for Description.Spec, to
	// be encoded as JSON.
	Plan(ctx context.Context, p *PlanArgs) (spec any, tasks int, err error)
}

// ReadConfigurer is implemented by a [Planner] that changes the options for reading documents. For
// example, the planner of predict sets the model's vocabulary.
type ReadConfigurer interface {
	ConfigureRead(ctx context.Context, opt *corpus.Options) error
}

// DocumentSplitter is implemented by a [Planner] that stores each task's documents separately, such
// as the planner of predict. For a DocumentSplitter, PlanArgs.Corpus isn't stored, and
// Description.CorpusDigest is empty.
type DocumentSplitter interface{ SplitsDocuments() }

// Driver is implemented by a [Planner] that runs a sequence of jobs, such as the planner of
// landmarks. Each job depends on the results of earlier jobs. Plan only checks the flags and the
// documents. `gramcluster drive` calls Drive.
type Driver interface {
	Drive(ctx context.Context, d *DriveArgs) error
}

// DriveArgs holds the arguments of a [Driver].
type DriveArgs struct {
	PlanArgs
	ISA    string
	Output *Output

	// RunJob runs the tasks that have no result. If the previous call was for the same job, RunJob
	// also reads all results and repeats the tasks with damaged results.
	RunJob func(ctx context.Context, j *Job) error
}

// PlanArgs holds the arguments of a [Planner].
type PlanArgs struct {
	Host         *Host
	Source       string         // value of -in; empty if the flag isn't set
	Corpus       *corpus.Corpus // documents, stored unless the planner is a [DocumentSplitter]; nil without -in
	CorpusDigest string         // digest of Corpus; only for a [Driver], because Plan runs before Corpus is stored
	Warnf        func(format string, args ...any)
}

// Worker runs tasks of one job. It must not be used concurrently.
type Worker interface {
	// Run returns a task's result, which is the concatenation of the slices. The slices are valid
	// until the next call. The result depends only on the description and the task.
	Run(ctx context.Context, task int) ([][]byte, error)
	Close() error
}

// Output holds the output path, the output format and the callbacks of Kind.Gather or a [Driver].
type Output struct {
	Path   string // path of the output file
	Format string // output format; if empty, the file extension or the kind's default determines the format
	Logf   func(format string, args ...any)

	// Progress is called with the completed and the total amount of work.
	Progress func(done, total int64)
}

// WriteFile atomically creates or replaces the file at Path. write writes the contents.
func (o *Output) WriteFile(write func(w io.Writer) error) error {
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

// FindKind returns the kind with the given name.
func FindKind(kinds []Kind, name string) (Kind, error) {
	var names []string
	for _, k := range kinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("job: unknown kind %q; valid kinds are %s", name, strings.Join(names, ", "))
}
