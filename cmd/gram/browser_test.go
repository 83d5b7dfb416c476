package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

// browser is a headless Chromium, controlled by WebDriver's JSON over HTTP.
type browser struct {
	t       *testing.T
	session string // address of the session
}

// patience is the time limit for a browser operation on a busy computer.
const patience = 3 * time.Minute

// newBrowser starts a browser for the test. Without one it skips the test, or fails it if CI=true.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	_, none := exec.LookPath("chromium")
	if err := errors.Join(err, none); err != nil {
		missing := t.Skip
		if os.Getenv("CI") == "true" {
			missing = t.Fatal
		}
		missing(err, "\non Debian: apt-get install chromium chromium-driver")
	}
	home, err := os.MkdirTemp("", "browser") // not t.TempDir, because processes may still write while it is removed
	musttest.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	cmd := exec.Command(driver, "--port=0")
	cmd.Env = append(os.Environ(), "HOME="+home)
	out := musttest.Get(cmd.StdoutPipe())(t)
	musttest.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	address := make(chan string, 1)
	go func() {
		port := regexp.MustCompile(`successfully on port (\d+)`)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := port.FindStringSubmatch(lines.Text()); m != nil {
				address <- "http://127.0.0.1:" + m[1]
			}
		}
	}()
	b := &browser{t: t}
	select {
	case b.session = <-address:
	case <-time.After(patience):
		t.Fatal("chromedriver names no port")
	}
	var made struct{ SessionID string }
	limit := patience.Milliseconds()
	wanted := map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:loggingPrefs": map[string]string{"performance": "ALL", "browser": "ALL"},
		"timeouts": map[string]int64{"script": limit, "pageLoad": limit},
		"goog:chromeOptions": map[string]any{"args": []string{"--headless=new", "--no-sandbox", "--disable-gpu",
			"--disable-dev-shm-usage"}},
	}}}
	for attempt := 1; ; attempt++ { // a busy computer may exceed the driver's limit of a minute for starting a browser
		err := b.try("POST", "/session", wanted, &made)
		if err == nil {
			break
		} else if attempt == 5 {
			t.Fatal(err)
		}
	}
	b.session += "/session/" + made.SessionID
	t.Cleanup(func() { b.call("DELETE", "", nil, nil) }) // runs before the driver and the folder are removed
	return b
}

// call sends a request to the driver, and stores the value of its response.
func (b *browser) call(method, path string, body, value any) {
	b.t.Helper()
	if err := b.try(method, path, body, value); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) try(method, path string, body, value any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, b.session+path, sent)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Timeout: 2 * patience}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s, %v: %.600s", method, path, answer.Status, err, text)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(text, &struct{ Value any }{value})
}

// eval runs the body of a JavaScript function, and stores its result.
func (b *browser) eval(value any, script string, args ...any) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	b.call("POST", "/execute/sync", map[string]any{"script": script, "args": args}, value)
}

func (b *browser) element(selector string) string {
	b.t.Helper()
	var found map[string]string
	b.call("POST", "/element", map[string]string{"using": "css selector", "value": selector}, &found)
	for _, id := range found {
		return "/element/" + id
	}
	b.t.Fatalf("no %s", selector)
	return ""
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.call("POST", b.element(selector)+"/click", map[string]any{}, nil)
}

func (b *browser) press(selector, keys string) {
	b.t.Helper()
	b.call("POST", b.element(selector)+"/value", map[string]string{"text": keys}, nil)
}

// devtools runs a command of the DevTools protocol.
func (b *browser) devtools(value any, command string, parameters map[string]any) {
	b.t.Helper()
	b.call("POST", "/goog/cdp/execute", map[string]any{"cmd": command, "params": parameters}, value)
}

// logged returns the new messages of a log since the last call.
func (b *browser) logged(log string) (messages []string) {
	b.t.Helper()
	var entries []struct{ Message string }
	b.call("POST", "/se/log", map[string]string{"type": log}, &entries)
	for _, e := range entries {
		messages = append(messages, e.Message)
	}
	return messages
}

// open opens a file in a window with the given width and colour scheme, light or dark.
func (b *browser) open(file string, width int, scheme string) {
	b.t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		b.t.Fatal(err)
	}
	b.devtools(nil, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}})
	b.devtools(nil, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900,
		"deviceScaleFactor": 1, "mobile": false})
	b.call("POST", "/url", map[string]string{"url": "file://" + path}, nil)
}

// screenshot writes an image of the page to the folder GRAM_SCREENSHOTS, if it is set.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	folder := os.Getenv("GRAM_SCREENSHOTS") // folder for visual checks
	if folder == "" {
		return
	}
	var size struct{ W, H float64 }
	b.eval(&size, "const e = document.documentElement; return {W: e.clientWidth, H: e.scrollHeight}")
	var picture struct{ Data string }
	b.devtools(&picture, "Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]float64{"x": 0, "y": 0, "width": size.W, "height": min(size.H, 6000), "scale": 1}})
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil || len(data) == 0 {
		b.t.Fatalf("a screenshot of %d bytes, %v", len(data), err)
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s.png", name)), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
