package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram"
)

var flipsPart = part{
	name: "flips", short: 8 * time.Second, long: 10 * time.Minute, prepare: prepareFlips,
	about: "a bit is flipped in models of all kinds and indexes",
}

// kindsOfModels are what train writes models of.
var kindsOfModels = []string{
	"-kernel diffusion -c 1 -b 1", "-scheme labels -kernel linear", "-type one_class -kernel ngd", "-type logistic -c 1",
	"-type linear", "-type knn:k=3", "-type landmark:m=8 -c 1", "-type sphere-logistic -c 1",
}

// models are files of models of all kinds, by name.
func (t *trial) models(ctx context.Context, program string) (map[string][]byte, error) {
	files := map[string][]byte{}
	train := func(source, args, to string) error {
		folder, err := t.folder(map[string][]byte{"a.tsv": []byte(corpusLines(24)), "a.svm": []byte(vectorLines(24))})
		if err != nil {
			return err
		}
		argv := append([]string{program, "train", "-q", "-in", source, "-o", "m.model"}, strings.Fields(args)...)
		r, err := t.start(ctx, job{folder: folder, argv: argv})
		if err != nil || r.status != 0 {
			return fmt.Errorf("%s: %w: %s", args, err, r.said())
		}
		files[to], err = os.ReadFile(filepath.Join(folder, "m.model"))
		return err
	}
	for i, args := range kindsOfModels {
		if err := train("a.tsv", args, fmt.Sprintf("kind%d.model", i)); err != nil {
			return nil, err
		}
	}
	for i, args := range []string{"-type lmnn:iterations=3", "-type mkm:components=3 -set layers=arccos:n=1"} {
		if err := train("a.svm", args, fmt.Sprintf("vectors%d.model", i)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// damage flips a bit, or cuts a file, at any place.
func damage(r *rand.Rand, data []byte) (bad []byte, what string) {
	at := r.IntN(len(data))
	if r.IntN(10) == 0 {
		return data[:at], fmt.Sprintf("cut at byte %d of %d", at, len(data))
	}
	bad = bytes.Clone(data)
	bad[at] ^= 1 << r.IntN(8)
	return bad, fmt.Sprintf("a bit flipped in byte %d of %d", at, len(data))
}

func prepareFlips(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	program, err := t.build(ctx, "lab", "./cmd/gramlab")
	if err != nil {
		return nil, err
	}
	models, err := t.models(ctx, program)
	if err != nil {
		return nil, err
	}
	x, err := gram.NewIndex(ctx, strings.Split(corpusLines(20), "\n"), gram.IndexOptions{})
	if err != nil {
		return nil, err
	}
	index := filepath.Join(t.scratch, "x.index")
	if err := x.Save(index); err != nil {
		return nil, err
	}
	if models["x.index"], err = os.ReadFile(index); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(models))
	return func(ctx context.Context, number int64) error {
		name := names[number%int64(len(names))]
		bad, what := damage(t.r, models[name])
		folder, err := t.folder(map[string][]byte{name: bad})
		if err != nil {
			return err
		}
		path := filepath.Join(folder, name)
		if name == "x.index" {
			_, err = gram.LoadIndex(ctx, path, gram.Options{})
		} else {
			_, err = gram.Load(path)
		}
		t.count("flips in models and indexes", 1)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.find("%s, %s: error %v, expected that it is damaged", name, what, err)
		}
		return nil
	}, nil
}
