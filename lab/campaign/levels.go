package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
)

var levelsPart = part{
	name: "levels", short: 12 * time.Second, long: 90 * time.Minute, prepare: prepareLevels,
	about: "tests with every instruction set as the highest, without the processor's features, on 1, 2 and 7 threads",
}

// suite is a run of tests.
type suite struct {
	flags []string
	env   []string
}

const highest = "github.com/gramengine/gram/asm.highest="

// suites are those of each level; the digests of cmd/gram are for all levels that there are.
func suites(short bool) (list []suite) {
	packages := "./asm/... ./engine/... ./solver/... ./sparse/... ./corpus/... ./tiles/... ./internal/... ."
	if short {
		packages = "./tiles ./solver"
	}
	for _, isa := range asm.Available() {
		for p := range strings.FieldsSeq(packages) {
			list = append(list, suite{flags: []string{"-ldflags", "-X " + highest + string(isa), p}})
		}
	}
	for _, env := range []string{"GODEBUG=cpu.all=off", "GOMAXPROCS=1", "GOMAXPROCS=2", "GOMAXPROCS=7"} {
		for _, p := range strings.Fields(packages) {
			list = append(list, suite{flags: []string{p}, env: []string{env}})
		}
	}
	return list
}

func prepareLevels(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	all := suites(t.short)
	t.note("runs of tests there are", fmt.Sprint(len(all)))
	return func(ctx context.Context, number int64) error {
		if number == 0 {
			if err := t.levelsRefused(ctx); err != nil {
				return err
			}
		}
		if number >= int64(len(all)) {
			return errDone
		}
		s := all[number]
		return t.goTest(ctx, ".", s.env, append([]string{"-short", "-vet=off"}, s.flags...))
	}, nil
}

// levelsRefused checks that the word of an instruction set means what it says: a program knows no other above it, and
// a set that there isn't is an error.
func (t *trial) levelsRefused(ctx context.Context) error {
	have := asm.Available()
	for i, isa := range append(have, "avx9") {
		program, err := t.build(ctx, ".", "./cmd/grambench", "-ldflags=-X "+highest+string(isa))
		if err != nil {
			return err
		}
		r, err := t.start(ctx, job{folder: t.scratch, argv: []string{program, "info", "-json"}})
		if err != nil {
			return err
		}
		t.count("levels", 1)
		var said struct {
			Rows []struct {
				ISA       asm.ISA
				Available bool
			}
		}
		wrong := (isa == "avx9") != (json.Unmarshal([]byte(r.stdout), &said) != nil || r.status != 0)
		for _, row := range said.Rows {
			wrong = wrong || row.Available && slices.Contains(have[min(i+1, len(have)):], row.ISA)
		}
		if wrong {
			t.find("-X %s%s: %s%s", highest, isa, r.stdout, r.said())
		}
	}
	return nil
}

// goTest runs tests of a module, as one case.
func (t *trial) goTest(ctx context.Context, module string, env, flags []string) error {
	argv := append([]string{"go", "test", "-timeout", "30m", "-count=1"}, flags...)
	r, err := t.start(ctx, job{folder: filepath.Join(t.root, module), argv: argv, env: env, within: 31 * time.Minute})
	if err != nil {
		return err
	}
	t.count("runs of tests", 1)
	t.count("packages tested", int64(strings.Count("\n"+r.stdout, "\nok ")))
	if r.status != 0 {
		t.find("%q %q: %.2000s%s", env, flags, r.stdout, r.said())
	}
	return nil
}
