// Package docs tests the links and the quoted code of the documentation.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// pages returns the pages of the documentation by path.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, pattern := range []string{"../*.md", "*.md", "../cuda/*.md", "../lab/*.md", "../lab/docs/*.md"} {
		files := musttest.Get(filepath.Glob(pattern))(t)
		for _, f := range files {
			text := musttest.Get(os.ReadFile(f))(t)
			found[f] = string(text)
		}
	}
	if len(found) < 10 {
		t.Fatalf("found %d pages, expected at least 10", len(found))
	}
	return found
}

// split returns the prose of a page, and its fenced code blocks.
func split(page string) (prose string, blocks []string) {
	for i, part := range strings.Split("\n"+page, "\n```") {
		if i%2 == 0 {
			prose += "\n" + part
		} else {
			blocks = append(blocks, part)
		}
	}
	return prose, blocks
}

// headings returns the anchors of all headings of a page, or of the headings of one level.
func headings(prose, level string) (anchors []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for line := range strings.Lines(prose) {
		hashes, title, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && strings.Trim(hashes, "#") == "" && hashes != "" && (level == "" || hashes == level) {
			title = drop.ReplaceAllString(strings.ToLower(title), "")
			anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return anchors
}

var link = regexp.MustCompile(`\]\(\s*([^)\s]+)\s*\)`)

// deadLinks returns the broken links to pages and files.
func deadLinks(pages map[string]string) (dead []string) {
	for path, page := range pages {
		prose, _ := split(page)
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, known := pages[to]; !known {
				if _, err := os.Stat(to); err != nil {
					dead = append(dead, path+": "+m[1])
				}
				continue
			}
			target, _ := split(pages[to])
			if anchor != "" && !slices.Contains(headings(target, ""), anchor) {
				dead = append(dead, path+": "+m[1])
			}
		}
	}
	return dead
}

func TestLinksOfPagesResolve(t *testing.T) {
	for _, d := range deadLinks(pages(t)) {
		t.Error(d)
	}
	bad := map[string]string{"a.md": "[x](b.md#two) [x](#none) [x](nowhere.md) [x](b.md#one)", "b.md": "## One"}
	if dead := deadLinks(bad); len(dead) != 3 {
		t.Errorf("dead links are %q, expected 3", dead)
	}
}

func TestHowToListsItsSections(t *testing.T) {
	prose, _ := split(pages(t)["howto.md"])
	contents, _, _ := strings.Cut(prose, "\n## ")
	var listed []string
	for _, m := range link.FindAllStringSubmatch(contents, -1) {
		if anchor, ok := strings.CutPrefix(m[1], "#"); ok {
			listed = append(listed, anchor)
		}
	}
	if sections := headings(prose, "##"); !slices.Equal(listed, sections) || len(sections) < 15 {
		t.Errorf("the contents list is\n%q, expected the sections in order\n%q", listed, sections)
	}
}

// words returns the text without its indentation.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// Each Go code block of docs/embed.md and README.md is part of a tested example.
func TestQuotedCodeIsAnExamples(t *testing.T) {
	files := musttest.Get(filepath.Glob("../*.go"))(t)
	var examples string
	for _, f := range files {
		text := musttest.Get(os.ReadFile(f))(t)
		examples += " " + words(string(text))
	}
	quoted := 0
	for path, page := range pages(t) {
		if path != "embed.md" && path != "../README.md" {
			continue
		}
		_, blocks := split(page)
		for _, b := range blocks {
			if code, ok := strings.CutPrefix(b, "go\n"); ok {
				quoted++
				if !strings.Contains(examples, words(code)) {
					t.Errorf("%s quotes what stands in no example:\n%s", path, code)
				}
			}
		}
	}
	if quoted < 6 {
		t.Errorf("found %d blocks of Go code, expected at least 6", quoted)
	}
}
