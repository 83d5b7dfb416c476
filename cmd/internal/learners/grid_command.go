package learners

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
)

// settingsOf returns the flags that set the parameters of a point.
func (r *gridReport) settingsOf(best *gridRow) []string {
	var settings []string
	for _, q := range [][2]string{{"-type", best.Type}, {"-kernel", best.Kernel}} {
		if q[1] != "" {
			settings = append(settings, q[:]...)
		}
	}
	if best.Type != "" && r.grid.Embedding != "" {
		settings = append(settings, "-embed", r.grid.Embedding)
	}
	for _, q := range []struct {
		flag string
		v    float64
	}{{"-c", best.C}, {"-nu", best.Nu}, {"-epsilon", best.Epsilon}} {
		if q.v != 0 {
			settings = append(settings, q.flag, fmt.Sprint(q.v))
		}
	}
	if len(r.grid.lists.schemes) > 0 {
		settings = append(settings, "-scheme", best.Scheme)
	}
	if len(r.grid.lists.ngrams) > 0 {
		settings = append(settings, "-ngrams", best.NGrams)
	}
	return settings
}

// trainCommand returns the train command for a point's settings, quoted for a shell. It keeps the
// user's flags except the search flags.
func (g *grid) trainCommand(samples bool, settings []string) string {
	searched := []string{"nu", "n", "epsilon", "p", "grid", "log2c", "log2g", "folds", "v", "groups", "plot", "report",
		"choose-time", "one-se", "q", "json"}
	if samples {
		searched = append(searched, "scheme", "thresholds", "ngrams")
		if g.f.IsSet("ngrams") && !slices.Contains(settings, "-ngrams") {
			settings = append(settings, "-ngrams", g.f.Lookup("ngrams").Value.String())
		}
	}
	return g.commandLine(searched, settings)
}

// commandLine returns a train command, quoted for a shell: the user's flags, -set flags for other
// parameters, and settings. It omits the user's kernel and C, and the flags in others.
func (m *trainingFlags) commandLine(others, settings []string) string {
	others = append(others, "kernel", "embed", "c")
	kind, shown := m.learner.Name, m.learner.New() // shown holds the parameters set by -type in settings
	// settings alternates flags and values, which replace the user's values
	for i := 0; i < len(settings); i += 2 {
		others = append(others, settings[i][1:])
		if settings[i] == "-type" {
			kind = ""
			if _, t, err := learn.Parse(settings[i+1]); err == nil {
				shown = t
			}
		}
	}
	words := appendFlags([]string{m.f.ProgramName, "train", "-in", quote(m.Source)}, m.f,
		append([]string{"in", "scale", "t", "g", "d", "r", "weight", "set", "type"}, others...)...)
	if kind != "" && m.f.IsSet("type") {
		words = append(words, "-type", kind)
	}
	for _, a := range m.assigned {
		switch {
		case slices.Contains(others, a.name) || shown.IsSet(a.name):
		case a.name == "balanced" && a.text == "true":
			words = append(words, "-weight", "balanced")
		case a.name == "weight":
			words = append(words, "-weight", quote(a.text))
		case a.flag == "set" || a.flag == "type":
			words = append(words, "-set", quote(a.name+"="+a.text))
		}
	}
	if m.Signed && !m.f.IsSet("signed") { // -t, which the command omits, implies -signed
		words = append(words, "-signed")
	}
	for _, w := range settings {
		words = append(words, quote(w))
	}
	return strings.Join(words, " ")
}

// appendFlags appends the flags set by the user, quoted for a shell. It omits the flags in others.
func appendFlags(words []string, f *cli.Flags, others ...string) []string {
	f.Visit(func(fl *flag.Flag) {
		switch {
		case slices.Contains(others, fl.Name):
		case f.IsBool(fl.Name):
			words = append(words, "-"+fl.Name)
		default:
			words = append(words, "-"+fl.Name, quote(fl.Value.String()))
		}
	})
	return words
}

// quote quotes w for a shell if w has special characters.
func quote(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=,@%+", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
