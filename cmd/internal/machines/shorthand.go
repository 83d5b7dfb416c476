package machines

import (
	"strings"
	"time"

	"github.com/gramengine/gram/internal/cli"
)

// shorthand are flags that are short for a -type: -landmarks for landmark with parameters, -layers for
// mkm.
type shorthand struct {
	number, loss string
	time         time.Duration
}

func (l *shorthand) declare(m *machine) {
	f := m.f
	f.Group("Learners", "learners")
	f.StringVar(&l.number, "landmarks", "", "train on `M` landmarks, or auto: short for -type landmark:m=M")
	f.StringVar(&l.loss, "loss", "", "with -landmarks: `LOSS` square, logistic or hinge2")
	f.DurationVar(&l.time, "time", 0, "with -landmarks auto: stay within the time `D`, such as 10m")
	m.declareParameter("layers", "layers", "", "train -type mkm with `KERNELS`, one per layer, ; between, or none")
	m.declareParameter("width", "width", "", "with -layers: features that pass, auto, all, or `W,W,...` by layer")
}

// take puts into -type what the flags are short for.
func (l *shorthand) take(m *machine) error {
	kind := &m.kind
	if m.f.Given("layers") && *kind == "" && l.number == "" {
		*kind = "mkm"
	}
	switch {
	case l.number == "" && *kind != "" && (l.loss != "" || l.time != 0):
		return cli.Usagef("-loss and -time apply to -landmarks only, found -type %s: expected parameters after a colon, "+
			"such as -type linear:loss=hinge", *kind)
	case l.number == "" && (l.loss != "" || l.time != 0):
		return cli.Usagef("-loss and -time without -landmarks, expected a number of landmarks, or auto")
	case l.number == "":
		return nil
	case *kind != "":
		return cli.Usagef("-landmarks %s is short for -type landmark:m=%s, found -type %s, too", l.number, l.number, *kind)
	}
	parameters := []string{"m=" + l.number}
	if l.loss != "" {
		parameters = append(parameters, "loss="+l.loss)
	}
	if l.time != 0 {
		parameters = append(parameters, "time="+l.time.String())
	}
	*kind = "landmark:" + strings.Join(parameters, ",")
	return nil
}
