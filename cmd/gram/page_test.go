package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

// written trains and evaluates models on overlapping classes, and returns the folder of the pages.
func written(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, from := range map[string]int{"train.tsv": 0, "test.tsv": 1000} {
		var b strings.Builder
		for i := from; i < from+160; i++ {
			fmt.Fprintf(&b, "class%d\t<b>&amp; \"%d\" 'x'", (i%7+i%5/4)%4, i)
			for k := range 5 {
				fmt.Fprintf(&b, " Wort%c%c", 'a'+(i%7%4*2+(i*(k+3)+k*k)%13)%26, 'a'+(i*k)%2)
			}
			b.WriteString(" </script><script>document.title='broken'</script>\n")
		}
		musttest.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(b.String()), 0o600))
	}
	for _, line := range []string{
		"train -q -type logistic -c 1 %s/train.tsv %s/log.model",
		"train -q -kernel diffusion:t=1 -c 1 -scheme one-vs-one %s/train.tsv %s/svm.model",
		"evaluate -q -report %s/log.html -training %s/train.tsv %s/test.tsv %s/log.model",
		"evaluate -q -report %s/svm.html -training %s/train.tsv %s/test.tsv %s/svm.model",
		"cv -q -report %s/cv.html -kernel linear -c 1 %s/train.tsv",
		"grid -q -report %s/grid.html -kernel linear -grid c=0.1,1,10 %s/train.tsv",
		"neighbours -q -texts -report %s/neighbours.html -k 3 -o %s/near.tsv %s/train.tsv",
		"duplicates -q -texts -within 0.3 -report %s/duplicates.html -o %s/groups.tsv %s/train.tsv",
		"duplicates -q -texts -within 0.3 -report %s/leaks.html -of %s/train.tsv -o %s/leaks.tsv %s/test.tsv",
		"verify -q -report %s/verify.html -kernel linear -in %s/train.tsv",
		"bench -q -count 1 -report %s/bench.html -in %s/train.tsv",
	} {
		runs(t, strings.Fields(strings.ReplaceAll(line, "%s", folder))...)
	}
	return folder
}

// contrasts finds text whose contrast with its background, as defined in WCAG 2, is below 4.5, or
// below 3 for large text.
const contrasts = `
const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const rgba = color => {
  context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
};
const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] / 255 + b[k] * (1 - a[3] / 255)).concat(255);
const ground = e => {
  const own = rgba(getComputedStyle(e).backgroundColor);
  return own[3] === 255 ? own : over(own, e.parentElement ? ground(e.parentElement) : [255, 255, 255, 255]);
};
const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const bad = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
for (let node; node = texts.nextNode();) {
  const e = node.parentElement, style = getComputedStyle(e);
  if (!node.data.trim() || e.closest('script, title') || !e.checkVisibility()) continue;
  const behind = ground(e), front = over(rgba(e.closest('svg') ? style.fill : style.color), behind);
  const [low, high] = [luminance(front), luminance(behind)].sort((a, b) => a - b);
  const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
  seen++;
  if (!(ratio >= (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5))) {
    bad.push(e.tagName + ' ' + node.data.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
  }
}
return { seen, bad };`

// Pages opened from a file send no requests, run only their own script, are readable at any width,
// in light and dark, can be sorted by mouse and keyboard, and list a cell's documents.
func TestPagesInBrowser(t *testing.T) {
	b := newBrowser(t)
	folder := written(t)
	for _, name := range []string{"log", "svm", "cv", "grid", "neighbours", "duplicates", "leaks", "verify", "bench"} {
		file := filepath.Join(folder, name+".html")
		checkFetchesNothing(t, file)
		// colours depend only on the scheme, lengths only on the width
		for width, scheme := range map[int]string{1280: "light", 400: "dark"} {
			b.open(file, width, scheme)
			what := fmt.Sprintf("%s, %d, %s", name, width, scheme)
			if name == "log" || name == "svm" {
				checkCell(t, b, what)
			}
			b.eval(nil, "for (const d of document.querySelectorAll('details')) d.open = true")
			var found struct {
				Seen int
				Bad  []string
			}
			if b.eval(&found, contrasts); found.Seen < 20 || len(found.Bad) > 0 {
				t.Errorf("%s: of %d texts too little contrast: %.20q", what, found.Seen, found.Bad)
			}
			var wide float64
			if b.eval(&wide, "return document.documentElement.scrollWidth"); wide > float64(width) {
				t.Errorf("%s: the page is %v wide", what, wide)
			}
			b.screenshot(strings.ReplaceAll(what, ", ", "-"))
		}
		if !slices.Contains([]string{"neighbours", "duplicates", "bench"}, name) { // few rows, or equal values
			checkSorts(t, b, name)
		}
		checkPictures(t, b, name)
	}
	units := report.NewTable("what", ">rate")
	for _, cell := range []string{"2.5 k", "", "1 G", "-3", "1,900", "3 M", "70 k"} {
		units.Add("", cell)
	}
	file := filepath.Join(folder, "units.html")
	of := &report.Document{Title: "Units"}
	of.AddTable("Rates", "", units)
	musttest.Get(matrixio.WriteFile(file, of.WriteHTML))(t)
	b.open(file, 1280, "light")
	checkSorts(t, b, "units")
	for _, text := range b.logged("browser") {
		if !strings.Contains(text, "Executing inline script violates") { // from the script of checkPictures
			t.Errorf("the browser says: %s", text)
		}
	}
	checkRequests(t, b)
}

// checkFetchesNothing checks that a page contains no addresses.
func checkFetchesNothing(t *testing.T, file string) {
	t.Helper()
	text := musttest.Get(os.ReadFile(file))(t)
	for _, bad := range []string{`https?://`, `(src|href)="[^#]`, `url\(`, `@import`, `ZgotmplZ`} {
		if found := regexp.MustCompile(bad).FindString(string(text)); found != "" {
			t.Errorf("%s has %q", filepath.Base(file), found)
		}
	}
	if !strings.Contains(string(text), `content="default-src &#39;none&#39;;`) {
		t.Errorf("%s has no policy", filepath.Base(file))
	}
}

// checkCell opens each cell of a matrix by mouse, the last by keyboard, and counts its documents.
func checkCell(t *testing.T, b *browser, what string) {
	t.Helper()
	const wrong = ".matrix tbody tr:nth-child(2) td:not(.right) button"
	var count, title, listed string
	b.eval(&count, "return document.querySelector(arguments[0]).textContent", wrong)
	for _, open := range []func(){func() { b.click(wrong) }, func() {
		b.click(".matrix .right button")
		b.press(wrong, "\ue007")
	}} {
		open()
		b.eval(&title, "return document.querySelector('.cell h3').textContent")
		b.eval(&listed, "return String(document.querySelectorAll('.cell li').length)")
		if listed != count || !strings.HasPrefix(title, "class1 predicted as class") {
			t.Errorf("%s: a cell of %s documents lists %s under %q", what, count, listed, title)
		}
	}
	var text string
	b.eval(&text, "return document.querySelector('.cell li p + p').textContent")
	if !strings.HasPrefix(text, "<b>&amp; ") {
		t.Errorf("%s: text %q, expected it as it was", what, text)
	}
}

// checkSorts sorts the first table by its first numeric column, by mouse, then back by keyboard.
func checkSorts(t *testing.T, b *browser, name string) {
	t.Helper()
	const title = "#sorted" // title of the first table with at least three rows
	b.eval(nil, `[...document.querySelectorAll('table.sorts')].find(table => table.tBodies[0].rows.length > 2)
		.querySelector('th.n').id = 'sorted'`)
	column := func() (numbers []float64) {
		b.eval(&numbers, `const title = document.querySelector(arguments[0]);
			return [...title.closest('table').tBodies[0].rows].map(row => Number(
				row.cells[title.cellIndex].textContent.replace(/[,%]/g, '').replace(' k', 'e3').replace(' M', 'e6')
				.replace(' G', 'e9')))`, title)
		return numbers
	}
	b.click(title + " button")
	if got := column(); len(got) < 3 || !slices.IsSortedFunc(got, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("%s: %v after a click, expected the greatest first", name, got)
	}
	b.press(title+" button", "\ue007")
	var order string
	b.eval(&order, "return document.querySelector(arguments[0]).ariaSort", title)
	if got := column(); !slices.IsSorted(got) || got[0] == got[len(got)-1] || order != "ascending" {
		t.Errorf("%s: %v after Enter, %q, expected the least first", name, got, order)
	}
}

// checkPictures checks that images and buttons have descriptions for screen readers.
func checkPictures(t *testing.T, b *browser, name string) {
	t.Helper()
	var silent []string
	b.eval(&silent, `return [...document.querySelectorAll('svg, td button, .scroll, nav')].filter(e => !e.ariaLabel ||
		e.tagName === 'svg' && (e.getAttribute('role') !== 'img' || !e.querySelector('title').textContent)
		).map(e => e.outerHTML)`)
	if len(silent) > 0 {
		t.Errorf("%s: without a text alternative: %.300q", name, silent)
	}
	var title string
	b.eval(&title, `const other = document.createElement('script');
		other.textContent = "document.title = 'broken'";
		document.body.append(other);
		return document.title`)
	if title == "broken" || title == "" {
		t.Errorf("%s: a script that isn't the page's runs, or there is no title: %q", name, title)
	}
}

func checkRequests(t *testing.T, b *browser) {
	t.Helper()
	files := 0
	for _, text := range b.logged("performance") {
		var event struct {
			Message struct {
				Method string
				Params struct {
					DocumentURL string
					Request     struct{ URL string }
				}
			}
		}
		musttest.NoError(t, json.Unmarshal([]byte(text), &event))
		sent := event.Message.Params
		if event.Message.Method != "Network.requestWillBeSent" || !strings.HasPrefix(sent.DocumentURL, "file://") {
			continue // for example, requests of the browser's start page
		}
		if address := sent.Request.URL; !strings.HasPrefix(address, "file://") {
			t.Errorf("the browser asked for %s", address)
		}
		files++
	}
	if files == 0 {
		t.Error("no request is in the log, not even those of the pages")
	}
}
