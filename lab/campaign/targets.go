package main

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var targetsPart = part{
	name: "targets", short: 10 * time.Second, long: 60 * time.Minute, prepare: prepareTargets,
	about: "Go's own fuzzer on each target of the packages, and the build of all of them for OSS-Fuzz",
}

//go:embed compile_native_go_fuzzer.sh
var standIn []byte

var (
	targetLine = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	execs      = regexp.MustCompile(`execs: (\d+)`)
)

// target is a fuzz target of a package of a module.
type target struct{ module, folder, name string }

// targets finds all targets.
func (t *trial) targets() (all []target, err error) {
	err = filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		file, _ := filepath.Rel(t.root, path)
		hidden := strings.HasPrefix(d.Name(), ".") && file != "."
		if err == nil && d.IsDir() && (hidden || file == "build" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		module, _, _ := strings.Cut(file, "/")
		if module != "cluster" && module != "lab" {
			module = "."
		}
		folder, err := filepath.Rel(module, filepath.Dir(file))
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range targetLine.FindAllSubmatch(text, -1) {
			all = append(all, target{module, "./" + folder, string(m[1])})
		}
		return err
	})
	return all, err
}

func prepareTargets(_ context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	all, err := t.targets()
	if err != nil {
		return nil, err
	}
	t.note("targets there are", fmt.Sprint(len(all)))
	each := 30 * time.Second
	if t.short {
		each = 3 * time.Second
	}
	return func(ctx context.Context, number int64) error {
		if number == 0 {
			if err := t.buildTargets(ctx); err != nil {
				return err
			}
		}
		f := all[number*7%int64(len(all))] // so that a short run isn't of one package alone
		corpus := filepath.Join(t.scratch, "corpus")
		argv := []string{"go", "test", "-run=^$", "-vet=off", "-fuzz=^" + f.name + "$", "-fuzztime=" + each.String(),
			f.folder, "-test.fuzzcachedir=" + corpus} // a flag that go doesn't know ends the packages
		r, err := t.start(ctx, job{folder: filepath.Join(t.root, f.module), argv: argv, within: each + 20*time.Minute})
		if err != nil {
			return err
		}
		t.count("runs of targets", 1)
		if done := execs.FindAllStringSubmatch(r.stdout, -1); len(done) > 0 {
			n, err := strconv.ParseInt(done[len(done)-1][1], 10, 64)
			if err != nil {
				return err
			}
			t.count("inputs", n)
		}
		if r.status != 0 || !strings.Contains(r.stdout, "fuzz: elapsed") {
			t.find("%s in %s: %.3000s%s", f.name, f.folder, r.stdout, r.said())
		}
		return nil
	}, nil
}

// buildTargets runs OSS-Fuzz's build script, with a stand-in for its compiler that builds the same target by go test.
func (t *trial) buildTargets(ctx context.Context) error {
	bin, out := filepath.Join(t.scratch, "bin"), filepath.Join(t.scratch, "out")
	err := write(t.scratch, map[string][]byte{"bin/compile_native_go_fuzzer": standIn, "out/.keep": nil})
	if err == nil {
		err = os.Chmod(filepath.Join(bin, "compile_native_go_fuzzer"), 0o755)
	}
	if err != nil {
		return err
	}
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "OUT=" + out, "SRC=" + filepath.Dir(t.root)}
	if t.short {
		env = append(env, "FIND_ONLY=yes")
	}
	script := []string{"bash", filepath.Join(t.root, ".ci/oss-fuzz-build.sh")}
	r, err := t.start(ctx, job{folder: t.root, argv: script, env: env, within: 30 * time.Minute})
	if err != nil {
		return err
	}
	all, err := t.targets()
	built, _ := filepath.Glob(filepath.Join(out, "[^.]*"))
	if r.status != 0 || len(built) != len(all) {
		t.find("OSS-Fuzz's build makes %d of %d targets: %s", len(built), len(all), r.said())
	}
	t.note("targets built for OSS-Fuzz", fmt.Sprint(len(built)))
	return err
}
