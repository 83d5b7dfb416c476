package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// rewrite brings svm-train's forms that package flag doesn't know into its own: -wCLASS WEIGHT, and -h, which is help unless 0 or 1 follows.
func (s *svmFlags) rewrite(args []string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if name == arg || name == "" {
			out = append(out, arg)
			continue
		}
		name, _, assigned := strings.Cut(name, "=")
		class, isWeight := strings.CutPrefix(name, "w")
		fl := s.f.set.Lookup(name)
		switch next := slices.Concat(args[i+1:], []string{""})[0]; {
		case name == "h" && !assigned && next != "0" && next != "1":
			return []string{"-help"}, nil
		case fl != nil && (assigned || isBool(fl)):
			out = append(out, arg)
		case fl != nil:
			out = append(out, args[i:min(i+2, len(args))]...)
			i++
		case isWeight && class != "" && assigned:
			out = append(out, "-weight", strings.TrimLeft(arg, "-")[1:])
		case isWeight && class != "":
			if i++; i == len(args) {
				return nil, usagef("%s without a weight, expected -wCLASS WEIGHT", arg)
			}
			out = append(out, "-weight", class+"="+next)
		default:
			out = append(out, arg)
		}
	}
	return out, nil
}

// isBool says whether a flag takes no value of its own.
func isBool(fl *flag.Flag) bool {
	b, ok := fl.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// zeroOne is a flag that is 0 or 1, as svm-train writes yes and no.
type zeroOne bool

func (z *zeroOne) String() string {
	if z != nil && bool(*z) {
		return "1"
	}
	return "0"
}

func (z *zeroOne) Set(v string) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return fmt.Errorf("expected 0 or 1")
	}
	*z = zeroOne(b)
	return nil
}

// weights are multiples of C by name of the class.
type weights map[string]float64

func (w weights) String() string { return "" }

func (w weights) Set(v string) error {
	at := strings.LastIndexByte(v, '=')
	if at < 1 {
		return fmt.Errorf("expected CLASS=W")
	}
	x, err := strconv.ParseFloat(v[at+1:], 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("weight %q of class %s, expected a number above 0", v[at+1:], v[:at])
	}
	w[v[:at]] = x
	return nil
}
