package machines

import (
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/cli"
)

// landmarks are flags that are short for -type landmark with parameters.
type landmarks struct {
	number, loss string
	time         time.Duration
}

func (l *landmarks) declare(f *cli.Flags) {
	f.Group("Landmarks", "learners")
	f.StringVar(&l.number, "landmarks", "", "train on `M` landmarks, or auto: short for -type landmark:m=M")
	f.StringVar(&l.loss, "loss", "", "with -landmarks: `LOSS` square, logistic or hinge2")
	f.DurationVar(&l.time, "time", 0, "with -landmarks auto: stay within the time `D`, such as 10m")
}

// take puts into -type what the flags are short for.
func (l *landmarks) take(kind *string) error {
	switch {
	case l.number == "" && *kind != "" && (l.loss != "" || l.time != 0):
		return cli.Usagef("-loss and -time belong to -landmarks, found -type %s: expected parameters behind a colon, "+
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
