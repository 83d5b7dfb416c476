package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var dependenciesPart = part{
	name: "dependencies", short: 5 * time.Second, long: 5 * time.Minute, prepare: prepareDependencies,
	about: "known vulnerabilities, a bill of materials, licences, and what is behind its newest version",
}

const (
	govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"
	cyclonedx   = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0"
)

// licences are what may be linked, by words that their texts have.
var licences = []struct{ name, words string }{
	{"Apache-2.0", `Apache License\s+Version 2\.0`},
	{"MIT", `Permission is hereby granted, free of charge`},
	{"BSD-3-Clause", `Redistribution and use in source and binary forms[\s\S]*([Nn]either the name|of its contributors)`},
	{"BSD-2-Clause", `Redistribution and use in source and binary forms`},
	{"ISC", `Permission to use, copy, modify, and/or distribute this software`},
	{"OFL-1.1", `SIL OPEN FONT LICENSE`},
	{"Unlicense", `This is free and unencumbered software`},
	{"FTL", `The FreeType License, which is similar to the original BSD license`}, // or the GPL, as one chooses
	{"CC-BY-4.0", `Creative Commons Attribution\s+4\.0`},
	{"GPL-2.0", `^\s*GNU GENERAL PUBLIC LICENSE`},
}

// module is what go list says of one.
type module struct {
	Path, Version, Dir string
	Main               bool
	Update             *struct{ Version string }
}

// programs are what users build, by their modules.
var programs = map[string]string{".": "./cmd/gram", "cluster": "./cmd/gramcluster"}

func prepareDependencies(_ context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	return func(ctx context.Context, number int64) error {
		switch number {
		case 0:
			return t.listLicences(ctx)
		case 1:
			if t.short { // the rest asks servers
				return errDone
			}
			return t.bill(ctx)
		case 2:
			return t.vulnerabilities(ctx)
		}
		return errDone
	}, nil
}

// linked lists the modules that a program links.
func (t *trial) linked(ctx context.Context, at, program string) (list []module, err error) {
	const paths = "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"
	c := exec.CommandContext(ctx, "go", "list", "-deps", "-f", paths, program)
	c.Dir = filepath.Join(t.root, at)
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	args := []string{"list", "-m", "-json"}
	if !t.short {
		args = append(args, "-e", "-u")
	}
	c = exec.CommandContext(ctx, "go", append(args, slices.Compact(found)...)...)
	c.Dir = filepath.Join(t.root, at)
	text, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(text); d.More(); {
		var m module
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(m.Path, "github.com/gramengine/gram") {
			list = append(list, m)
		}
	}
	return list, c.Wait()
}

// listLicences writes docs/licences.txt: of each module that is linked its version and the text of its licence.
func (t *trial) listLicences(ctx context.Context) error {
	texts, all := map[string][]string{}, map[string]bool{}
	for at, program := range programs {
		list, err := t.linked(ctx, at, program)
		if err != nil {
			return err
		}
		for _, m := range list {
			text, err := licenceOf(m.Dir)
			if err != nil {
				t.find("%s: %v", m.Path, err)
				continue
			}
			name := "unknown"
			for _, l := range licences {
				if name == "unknown" && regexp.MustCompile(l.words).MatchString(text) {
					name = l.name
				}
			}
			if name == "unknown" || name == "GPL-2.0" {
				t.find("%s %s has the licence %s, which programs that link it may not have", m.Path, m.Version, name)
			}
			text = name + "\n\n" + strings.TrimSpace(text) + "\n" // which several modules may share
			texts[text] = append(texts[text], m.Path+" "+m.Version+"\n")
			all[m.Path] = true
			if m.Update != nil {
				t.note(m.Path, fmt.Sprintf("%s, newest %s", m.Version, m.Update.Version))
			}
		}
	}
	t.count("modules linked", int64(len(all)))
	var parts []string
	for text, paths := range texts {
		slices.Sort(paths)
		parts = append(parts, strings.Join(slices.Compact(paths), "")+text)
	}
	slices.Sort(parts)
	head := "Modules that gram and gramcluster link, with their licences. make campaign writes this file.\n\n"
	want := head + strings.Join(parts, "\n"+strings.Repeat("-", 80)+"\n\n")
	file := filepath.Join(t.root, "docs", "licences.txt")
	if t.short {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.find("docs/licences.txt isn't what is linked; make campaign writes it (error %v)", err)
		}
		return nil
	}
	return write(filepath.Dir(file), map[string][]byte{"licences.txt": []byte(want)})
}

func licenceOf(folder string) (string, error) {
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "licen[cs]e*"} {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		if len(files) > 0 {
			text, err := os.ReadFile(files[0])
			return string(text), err
		}
	}
	return "", fmt.Errorf("no licence in its folder")
}

// bill writes docs/sbom.json.
func (t *trial) bill(ctx context.Context) error {
	program, err := t.build(ctx, ".", "./cmd/gram")
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "run", cyclonedx, "bin", "-json", "-noserial", "-version", "devel", program)
	c.Dir = t.root
	out, err := c.Output()
	if err != nil {
		t.note("bill of materials", fmt.Sprintf("not written: %v", err))
		return ctx.Err()
	}
	t.note("bill of materials", "docs/sbom.json, CycloneDX, by cyclonedx-gomod")
	return write(filepath.Join(t.root, "docs"), map[string][]byte{"sbom.json": out})
}

func (t *trial) vulnerabilities(ctx context.Context) error {
	for at := range programs {
		c := exec.CommandContext(ctx, "go", "run", govulncheck, "./...")
		c.Dir = filepath.Join(t.root, at)
		out, err := c.CombinedOutput()
		switch text := string(out); {
		case err == nil:
			t.note("vulnerabilities, module "+at, "none known")
		case strings.Contains(text, "Vulnerability #"):
			t.find("module %s: %s", at, text)
		default:
			t.note("vulnerabilities, module "+at, "not looked for: the database isn't within reach")
		}
	}
	return ctx.Err()
}
