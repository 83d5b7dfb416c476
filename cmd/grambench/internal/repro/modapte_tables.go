package repro

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// modApteTables measures and makes Tables 5 and 6.
func (p *llProtocol) modApteTables(ctx context.Context, r *Run, s *modApteSplit, report *Report) error {
	results, err := p.measureModApte(ctx, r, s, report)
	for k := range llKernels {
		for _, scale := range p.scalesOf(k) {
			if results[modApteStage{k, scale}] == nil {
				return err // a table with a kernel missing says nothing
			}
		}
	}
	report.Set("ModApte", "%d stories for training, %d for testing, tf", s.train.Rows(), s.test.Rows())
	for _, t := range []*modApteTable{
		{"5", "Table 5: Reuters-21578, ModApte split, test error", "error", func(w *wrongly, documents int) float64 { return float64(w.errors()) / float64(documents) }, -1},
		{"6", "Table 6: Reuters-21578, ModApte split, F1", "F1", func(w *wrongly, _ int) float64 { return w.f1() }, 1},
	} {
		if p.tables.Has(t.number) {
			p.modApteTable(t, s, results, report)
		}
	}
	return err
}

// modApteTable is one of the two tables: which figure, and whether more of it (1) or less (-1) is better.
type modApteTable struct {
	number, title, what string
	figure              func(w *wrongly, documents int) float64
	better              float64
}

// modApteChoice is what a kernel gives for a topic under one protocol.
type modApteChoice struct {
	figure, scale, c float64
	wrong            *wrongly // of the test stories
}

// choose finds the scale and C with the best figure, which by returns; of equal ones the one with the least C, then with the greatest scale.
func (p *llProtocol) choose(t *modApteTable, results map[modApteStage]*modApteResult, k, topic, documents int, by func(r *modApteResult, c int) float64) modApteChoice {
	best, choice := math.Inf(-1), modApteChoice{}
	scales := slices.Clone(p.scalesOf(k))
	slices.Reverse(scales)
	for c, price := range p.c {
		for _, scale := range scales {
			r := results[modApteStage{k, scale}]
			if v := t.better * by(r, c); v > best {
				best = v
				wrong := &r.Test[c][topic]
				choice = modApteChoice{t.figure(wrong, documents), scale, price, wrong}
			}
		}
	}
	return choice
}

// modApteTable adds a table to the report.
func (p *llProtocol) modApteTable(t *modApteTable, s *modApteSplit, results map[modApteStage]*modApteResult, report *Report) {
	columns := []Column{{Key: "class", Title: "topic", Left: true}}
	for _, protocol := range []string{"", "_held_out"} {
		for k := range llKernels {
			title := llKernels[k].name
			if protocol != "" {
				title = "held out: " + title[:3]
			}
			columns = append(columns, Column{Key: llLower(k) + protocol, Title: title})
		}
		columns = append(columns, Column{Key: "best" + protocol, Title: "best", Left: true}, Column{Key: "p_linear" + protocol, Title: "p lin"}, Column{Key: "p_gaussian" + protocol, Title: "p Gau"})
		for k := range llKernels {
			columns = append(columns, Column{Key: llLower(k) + "_scale" + protocol, Data: true}, Column{Key: llLower(k) + "_c" + protocol, Data: true})
		}
	}
	table := &Table{Key: t.number, Title: t.title, Columns: columns}
	documents := s.test.Rows()
	first := map[string][]string{}
	for topic, name := range llTop {
		cells := []Cell{Word(name)}
		for _, protocol := range []string{"best scale", "held out"} {
			var choices [3]modApteChoice
			for k := range llKernels {
				choices[k] = p.choose(t, results, k, topic, documents, func(r *modApteResult, c int) float64 {
					if protocol == "held out" {
						return t.figure(&r.Held[c][topic], documents) // the error's scale doesn't matter for the choice
					}
					return t.figure(&r.Test[c][topic], documents)
				})
				cells = append(cells, Value(choices[k].figure, 4))
			}
			best := bestOf(choices[:], t.better)
			cells = append(cells, Word(strings.Join(best, ", ")))
			for _, k := range []int{llLinear, llGaussian} {
				cells = append(cells, Probability(against(choices[llDiffusion].wrong, choices[k].wrong).P))
			}
			for k := range llKernels {
				cells = append(cells, Value(choices[k].scale, 2), Value(choices[k].c, 2))
			}
			if slices.Contains(best, llKernels[llDiffusion].name) {
				first[protocol] = append(first[protocol], name)
			}
		}
		table.Add(cells...)
	}
	report.Tables = append(report.Tables, table)
	for _, protocol := range []string{"best scale", "held out"} {
		report.Notes = append(report.Notes, fmt.Sprintf("Table %s, %s: diffusion has the best %s, alone or with others, for %d of %d topics: %s.", t.number, protocol, t.what, len(first[protocol]), len(llTop),
			strings.Join(first[protocol], ", ")))
	}
}

// bestOf names the kernels with the best figure.
func bestOf(choices []modApteChoice, better float64) (names []string) {
	best := math.Inf(-1)
	for k, choice := range choices {
		if v := better * choice.figure; v > best {
			best, names = v, nil
		}
		if better*choice.figure == best {
			names = append(names, llKernels[k].name)
		}
	}
	return names
}

// against is the sign test of two machines on the test stories: positive where the first alone is right more often.
func against(a, b *wrongly) Test {
	wrong := func(w *wrongly) map[int]bool {
		all := map[int]bool{}
		for _, story := range slices.Concat(w.Missed, w.Mistaken) {
			all[story] = true
		}
		return all
	}
	first, second := wrong(a), wrong(b)
	var rightA, rightB int
	for story := range second {
		if !first[story] {
			rightA++
		}
	}
	for story := range first {
		if !second[story] {
			rightB++
		}
	}
	return SignTest(rightA, rightB)
}
