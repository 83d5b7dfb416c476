package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

// A bad request gets a specific status and a JSON error.
func TestBadRequests(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	for _, q := range []struct {
		method, path, kind, body string
		status                   int
	}{
		{"GET", "/nothing", "", "", 404}, {"GET", "/predict", "", "", 405}, {"DELETE", "/", "", "", 405},
		{"POST", "/metrics", "", "", 405}, {"POST", "/predict", "application/xml", "<a/>", 415},
		{"POST", "/predict", "application/x-www-form-urlencoded", "text=a", 415},
		{"POST", "/predict", "text/plain; charset=latin1", "a", 415}, {"POST", "/predict", ";;", "a", 415},
		{"POST", "/predict", asJSON, "", 400}, {"POST", "/predict", asJSON, "{", 400},
		{"POST", "/predict", asJSON, "{}", 400}, {"POST", "/predict", asJSON, `{"text": "a", "other": 1}`, 400},
		{"POST", "/predict", asJSON, `{"text": 1}`, 400}, {"POST", "/predict", asJSON, `{"texts": []}`, 400},
		{"POST", "/predict", asJSON, `{"text": "a", "texts": ["b"]}`, 400}, {"POST", "/predict", asJSON, "\xff\xfe", 415},
		{"POST", "/predict", "text/plain", "r\xe9sum\xe9", 415},
		{"POST", "/predict", asJSON, `{"text": "r` + "\xe9" + `"}`, 415},
		{"POST", "/predict", asJSON, strings.Repeat("[", 1000), 400},
		{"POST", "/explain", asJSON, `{"texts": ["a", "b"]}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 0}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 1e9}`, 400},
		{"POST", "/predict", "text/plain", strings.Repeat("a ", 1<<10), 413},
		{"POST", "/", asJSON, `{"text": "a"}`, 415}, {"POST", "/", "", "text=a", 415}, {"POST", "/", "image/png", "", 415},
		{"POST", "/", "multipart/form-data; boundary=a", "", 415},
	} {
		r := ask(s, q.method, q.path, q.kind, q.body)
		var got struct{ Error string }
		err := json.Unmarshal([]byte(bodyOf(t, r)), &got)
		if r.StatusCode != q.status || err != nil || got.Error == "" || strings.Contains(got.Error, "\n") {
			t.Errorf("%s %s %s %.20q: %s, %q, %v, expected %d", q.method, q.path, q.kind, q.body, r.Status, got.Error, err,
				q.status)
		}
		if r.StatusCode == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", q.method, q.path)
		}
	}
	s.maxBody = 1 << 20
	if r := ask(s, "POST", "/explain", "", strings.Repeat("a ", 40000)); r.StatusCode != 413 {
		t.Errorf("a long explanation: %s", r.Status)
	}
	s.current.Load().index = nil
	if r := ask(s, "POST", "/neighbours", "", "a"); r.StatusCode != 404 {
		t.Errorf("neighbours without texts: %s", r.Status)
	}
	r := httptest.NewRequest("POST", "/predict", strings.NewReader("a"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 403 {
		t.Errorf("another site's page gets %d", w.Code)
	}
	for host, local := range map[string]bool{
		"localhost:80": true, "LOCALHOST": true, "localhost": true, "127.0.0.1:80": true, "[::1]:80": true, "[::1]": true,
		"evil.example:80": false, "localhost.evil.example": false, "10.0.0.1": false, "": false,
	} {
		if isLocal(host) != local {
			t.Errorf("host %q is local: %v", host, !local)
		}
	}
	s.onLoopback = true // httptest uses the host example.com
	if r := ask(s, "GET", "/healthz", "", ""); r.StatusCode != 403 {
		t.Errorf("a request to %s", r.Status)
	}
}

// JSON is parsed strictly: keys are exact, null isn't a text, and numbers may be written in any
// way. Errors name JSON types.
func TestJSONForms(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	for body, want := range map[string]string{
		`{"text": "red", "n": 1.0}`: "", `{"text": "red", "n": 1e0}`: "", "\ufeff" + `{"text": "red", "n": 1}`: "",
		` {"texts" : ["red"],"n":1 }` + "\n": "",
		`{"text": "red", "n": 1.5}`:          `"n" must be an integer between 1 and 1000, got 1.5`,
		`{"text": "red", "n": "1"}`:          `"n" must be an integer between 1 and 1000, got a string`,
		`{"text": "red", "n": null}`:         `"n" must be an integer between 1 and 1000, got null`,
		`{"texts": ["red", null]}`:           `null at 1 of "texts"`,
		`{"texts": ["red", 1]}`:              `a value of type number in "texts"`,
		`{"texts": "red"}`:                   `a string for "texts"`,
		`{"texts": null}`:                    `null for "texts"`,
		`{"text": ["red"]}`:                  `an array for "text"`,
		`{"text": null}`:                     `null for "text"`,
		`{"TEXT": "red"}`:                    `the key "TEXT"`,
		`[1]`:                                `got an array`,
		`null`:                               `got null`,
		`true`:                               `got a boolean`,
		`{"text": "red"`:                     `invalid JSON: unexpected end of JSON input at byte 14`,
		`{'text': "red"}`:                    `invalid JSON: invalid character '\'' looking for beginning of object key`,
		`{"text": "red"} {}`:                 `invalid JSON: invalid character '{' after top-level value at byte 17`,
	} {
		r := ask(s, "POST", "/explain", asJSON, body)
		var got struct {
			Error string
			Terms []any
		}
		err := json.Unmarshal([]byte(bodyOf(t, r)), &got)
		switch {
		case err != nil || strings.Contains(got.Error, "Go ") || strings.Contains(got.Error, "map["):
			t.Errorf("%s: %v, error %q", body, err, got.Error)
		case want == "" && (r.StatusCode != 200 || len(got.Terms) != 1):
			t.Errorf("%s: %s, %+v, want one term", body, r.Status, got)
		case want != "" && (r.StatusCode != 400 || !strings.Contains(got.Error, want)):
			t.Errorf("%s: %s, error %q, expected %q", body, r.Status, got.Error, want)
		}
	}
}

// A malformed body gets a 4xx status.
func TestMalformedBodies(t *testing.T) {
	addr := listen(t, start(t, gram.TrainOptions{Type: "linear"}))
	for path, kind := range map[string]string{"/predict": "text/plain", "/": formType} {
		for _, body := range []string{"zz\r\n", "5\r\nabcdefgh", "\r\n\r\n", "-1\r\n", "fffffffffffffffff\r\n"} {
			c := musttest.Get(net.Dial("tcp", addr))(t)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n"+
				"Connection: close\r\n\r\n%s", path, kind, body)
			musttest.NoError(t, c.(*net.TCPConn).CloseWrite())
			if got := string(musttest.Get(io.ReadAll(c))(t)); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
				t.Errorf("%s, %q: %.100q", path, body, got)
			}
			musttest.NoError(t, c.Close())
		}
	}
}

// Any body is either refused with a 4xx status, or has texts within the limits.
func FuzzDecode(f *testing.F) {
	for _, kind := range []string{"", "text/plain", asJSON, "application/json; charset=utf-8", "a/b", ";"} {
		for _, body := range []string{
			"", "{}", `{"text": "a"}`, `{"texts": ["a", "b"], "n": 3}`, `{"TEXT": "a"}`, "[1", "\xff",
		} {
			f.Add(kind, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		q, err := decode(kind, body, nil)
		if err != nil {
			if s := statusErrorOf(err).status; s != 400 && s != 415 {
				t.Errorf("%v: status %d", err, s)
			}
			return
		}
		if q.Len() < 1 || q.Len() > maxTexts || q.n < 1 || q.n > maxN {
			t.Errorf("%d texts, n %d", q.Len(), q.n)
		}
	})
}
