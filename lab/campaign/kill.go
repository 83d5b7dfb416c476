package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

var killPart = part{
	name: "kill", short: 12 * time.Second, long: 30 * time.Minute, prepare: prepareKill,
	about: "kill -9 at random moments of train -tiles and of what resumes",
}

// prepareKill makes cases of one training each: it is killed up to five times in one folder and then goes on to its
// end. The model must be that of a run that nobody kills, and so must all tiles.
func prepareKill(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	program, err := t.build(ctx, ".", "./cmd/gram")
	if err != nil {
		return nil, err
	}
	type training struct {
		argv  []string
		after map[string][]byte
		took  time.Duration
	}
	var all []training
	inputs := map[string][]byte{"a.tsv": []byte(corpusLines(800)), "a.svm": []byte(vectorLines(200))}
	for _, args := range []string{
		"-in a.tsv -kernel diffusion -c 10 -tiles tiles", "-in a.tsv -kernel rbf -c 1 -tiles tiles -m 100M",
		"-in a.tsv -type landmark:m=100 -c 1", "-in a.svm -type mkm:components=3 -layers arccos:n=1;arccos:n=1",
	} {
		argv := append([]string{program, "train", "-q", "-o", "m.model"}, strings.Fields(args)...)
		folder, err := t.folder(inputs)
		if err != nil {
			return nil, err
		}
		r, err := t.start(ctx, job{folder: folder, argv: argv})
		if err != nil || r.status != 0 {
			return nil, fmt.Errorf("%s: %w: %s", args, err, r.said())
		}
		all = append(all, training{argv, contents(folder), r.elapsed})
	}
	return func(ctx context.Context, number int64) error {
		of := all[number%int64(len(all))]
		folder, err := t.folder(inputs)
		if err != nil {
			return err
		}
		for range 1 + t.r.IntN(5) {
			after := time.Duration(t.r.Float64() * float64(of.took))
			r, err := t.start(ctx, job{folder: folder, argv: of.argv, kill: max(after, time.Millisecond)})
			if err != nil {
				return err
			}
			if r.status == -1 {
				t.count("kills", 1)
			} else if r.status != 0 {
				t.find("%q after a kill: %s", of.argv[1:], r.said())
			}
		}
		r, err := t.start(ctx, job{folder: folder, argv: of.argv})
		if err != nil {
			return err
		}
		t.count("trainings that went on to their end", 1)
		t.sameFiles(fmt.Sprintf("%q after kills", of.argv[1:]), r, of.after, contents(folder))
		return nil
	}, nil
}

// sameFiles checks that a run succeeded and that a folder holds what it must and no more.
func (t *trial) sameFiles(where string, r ran, want, got map[string][]byte) {
	for name, data := range want {
		if is, there := got[name]; !there || !bytes.Equal(is, data) {
			t.find("%s: %s has %d bytes, expected others (%d)", where, name, len(is), len(data))
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.find("%s: %s is left", where, filepath.Base(name))
		}
	}
	if r.status != 0 {
		t.find("%s: %s", where, r.said())
	}
}
