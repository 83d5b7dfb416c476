package backend

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// Version is the command version, which describes the program.
var Version = &cli.Command{
	Name:    "version",
	Summary: "print version, commit, instruction set and back ends",
	Help: `
Prints the version of the program, the commit and the Go version from which it was built, the
instruction set that it uses on this CPU, and its back ends. The commit is unknown if the program
was installed by go install.`,
	Examples: "gram version\ngram version -json\ngrambench version",
	Setup: func(f *cli.Flags) cli.RunFunc {
		return func(_ context.Context, e *cli.Env) error {
			return report.Write(e.Stdout, newVersion(f.ProgramName), f.JSON)
		}
	},
}

type version struct {
	Program, Version string
	Commit           string // commit of the sources; "" if unknown
	Modified         bool   // true if the sources differ from the commit
	Go, OS, Arch     string
	ISA              string `json:"isa"`
	Backends         []string
}

func newVersion(program string) *version {
	v := &version{Program: program, Version: cli.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		ISA: string(asm.BestKernels().ISA), Backends: []string{"cpu"}}
	if cuda.Built {
		v.Backends = append(v.Backends, string(CUDA))
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	return v
}

func (v *version) Describe(d *report.Document) {
	d.AddLine(v.Program + " " + v.Version)
	commit := report.OrUnknown(v.Commit)
	if v.Modified {
		commit += ", modified"
	}
	d.AddFact("commit", "%s", commit)
	d.AddFact("Go", "%s, %s/%s", v.Go, v.OS, v.Arch)
	d.AddFact("instruction set", "%s", v.ISA)
	d.AddFact("back ends", "%s", strings.Join(v.Backends, ", "))
}
