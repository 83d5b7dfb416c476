package matrices

import (
	"context"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// Kernels is the command kernels, which lists the kernels.
var Kernels = &cli.Command{
	Name:      "kernels",
	Summary:   "list all kernels with formula, parameters, definiteness and literature reference",
	ArgsUsage: "[NAME or SPEC]",
	Help: `
Lists the kernels for -kernel, each with its formula (c = 1 - cosine of the two embedded documents),
its parameters as KEY=DEFAULT with their ranges, its definiteness with conditions, and its source.
With a NAME it shows a kernel in detail, with examples. With a specification (NAME:KEY=VALUE,..., or
a composed kernel) it shows the properties of the kernel with these parameters.

Definiteness holds in exact arithmetic:
  positive definite                 Σ wᵢ wⱼ k(xᵢ, xⱼ) >= 0 for all weights: no eigenvalue of a Gram
                                    matrix is below 0
  conditionally positive definite   the same for weights with sum 0, which suffices for support
                                    vector machines
  not proven                        unknown for these parameters; gram spectrum computes the
                                    eigenvalues for your documents`,
	Examples: `
gram kernels arccos
gram kernels diffusion:t=8
gram kernels '0.5*diffusion:t=0.5 + 0.5*linear' -json`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		f.MaxArgs, f.RewriteArgs = 1, protectMinus
		return func(_ context.Context, e *cli.Env) error {
			r, err := newKernelsReport(f.Args)
			if err != nil {
				return err
			}
			return report.Write(e.Stdout, r, f.JSON)
		}
	},
}

// embeddingsHelp is the help text below the list of kernels.
const embeddingsHelp = `
c = 1 - cosine. Parameters are KEY=DEFAULT: meaning; range. Sums may also be written as
0.5*diffusion:t=0.5 + 0.5*linear. All kernels of a sum share the embedding of the first kernel by
default.

Every kernel also has the parameter embed=EMBEDDING: tf, tfidf or tfkl, then optionally -l1 or -l2,
then optionally -sqrt or a power such as -pow0.75. tfkl weights a term by its information about the
class. With -l1-chi2 or -l1-js, c is 1 minus the chi-squared or Jensen-Shannon similarity of
histograms. The default is tf-l1-chi2 for chi2, tf-l1-js for js, tf-l1-sqrt for the other
kernels of information geometry, and tf (plain counts) for linear, polynomial, rbf, sigmoid and
arccos.

gram kernels NAME shows one kernel in detail.`

// protectMinus inserts -- before a specification that begins with a negative weight, such as -1*c,
// so that it isn't parsed as a flag. No flag begins with a digit.
func protectMinus(args []string) ([]string, error) {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...), nil
		}
		if weight, minus := strings.CutPrefix(a, "-"); minus && weight != "" &&
			strings.Contains(".0123456789", weight[:1]) {
			out = append(out, "--")
		}
		out = append(out, a)
	}
	return out, nil
}

type kernelsReport struct {
	Rows     []kernelRow `json:"rows"`
	detailed bool
}

// kernelRow describes a kernel, or one specification of a kernel.
type kernelRow struct {
	Name    string `json:"kernel"`
	Formula string `json:"formula,omitempty"`
	Summary string `json:"what,omitempty"`
	// syntax between the parentheses of a composed kernel
	ArgumentSyntax string         `json:"parts,omitempty"`
	Params         []kernel.Param `json:"parameters,omitempty"`
	Source         string         `json:"source,omitempty"`
	Variants       []kernelSpec   `json:"variants"` // examples, or the specification in the argument
}

// kernelSpec is a specification with its known properties.
type kernelSpec struct {
	Spec string
	kernel.Properties
}

// newKernelsReport describes all kernels, or the kernel in args.
func newKernelsReport(args []string) (*kernelsReport, error) {
	r := &kernelsReport{detailed: len(args) > 0}
	for _, info := range kernel.Catalogue() {
		r.Rows = append(r.Rows, newKernelRow(info))
	}
	if !r.detailed {
		return r, nil
	}
	asked := strings.TrimSpace(args[0])
	for _, row := range r.Rows {
		if row.Name == asked {
			r.Rows = []kernelRow{row}
			return r, nil
		}
	}
	row := kernelRow{Name: asked}
	k, err := kernel.Parse(asked)
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	row.Name = k.String()
	if name, _, _ := strings.Cut(row.Name, ":"); !strings.ContainsAny(name, "(+*") {
		for _, of := range r.Rows {
			if of.Name == name {
				row = of
				row.Name = k.String()
			}
		}
	}
	row.Variants = []kernelSpec{{k.String(), kernel.PropertiesOf(k)}}
	r.Rows = []kernelRow{row}
	return r, nil
}

func newKernelRow(info kernel.Info) kernelRow {
	row := kernelRow{Name: info.Name, Formula: info.Summary, Summary: info.Description, ArgumentSyntax: info.Operands,
		Params: info.Params,
		Source: info.Source}
	for _, spec := range info.Examples {
		row.Variants = append(row.Variants, kernelSpec{spec, kernel.PropertiesOf(kernel.MustParse(spec))})
	}
	return row
}

// kernelIndent is the width of the column of names, and kernelWidth the width of a line.
const kernelIndent, kernelWidth = 17, 100

func (r *kernelsReport) Describe(d *report.Document) {
	for i, row := range r.Rows {
		if i > 0 {
			d.AddLine("")
		}
		row.Describe(d, r.detailed)
	}
	if !r.detailed {
		d.AddLine(embeddingsHelp)
	}
}

func (row kernelRow) Describe(d *report.Document, detail bool) {
	blank := strings.Repeat(" ", kernelIndent)
	line := func(text string) { d.AddWrapped(blank, text, kernelWidth) }
	name := row.Name
	if row.ArgumentSyntax != "" && !strings.Contains(name, "(") {
		name += "(…)"
	}
	if detail || len([]rune(name)) >= kernelIndent {
		d.AddLine(name)
		name = ""
	}
	if row.Formula != "" {
		d.AddWrapped(report.Pad(name, kernelIndent), row.Formula, kernelWidth)
	}
	if detail && row.Summary != "" {
		line(row.Summary)
	}
	if row.ArgumentSyntax != "" && detail {
		line("(…): " + row.ArgumentSyntax)
	}
	for _, q := range row.Params {
		if q.Key == "embed" && !detail && row.ArgumentSyntax != "" {
			continue // the short list shows embed only for base kernels
		}
		text := q.Key + "=" + q.Default + ": " + q.Summary + "; " + q.Allowed
		if len(q.Aliases) > 0 {
			text += "; also called " + strings.Join(q.Aliases, ", ")
		}
		line(text)
	}
	last := ""
	for _, v := range row.Variants {
		known := v.definiteness()
		switch {
		case detail && row.Name == v.Spec:
			line(known + v.properties())
		case detail:
			line("example " + v.Spec + ": " + known + v.properties())
		case known != last: // a property that consecutive examples share is printed once
			if last != "" || row.ArgumentSyntax != "" {
				line(v.Spec + ": " + known)
			} else {
				line(known)
			}
		}
		last = known
	}
	if row.Source != "" {
		line("from " + row.Source)
	}
}

func (v kernelSpec) definiteness() string {
	text := v.Definiteness.String()
	if v.Condition != "" {
		text += ": " + v.Condition
	}
	if v.Source != "" {
		text += " [" + v.Source + "]"
	}
	return text
}

// properties describes the known properties except definiteness.
func (v kernelSpec) properties() string {
	text := "; of the cosine alone"
	if v.UsesNorms {
		text = "; uses norms"
	}
	if v.NonNegative {
		text += "; never negative"
	}
	if v.PositiveDiagonal {
		text += "; k(x, x) > 0"
	}
	return text
}
