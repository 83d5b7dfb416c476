package peers

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// ReadLines reads the lines of a file, gzipped or not.
func ReadLines(path string) (lines []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	s := bufio.NewScanner(in)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}

// WriteLines writes lines to a file.
func WriteLines(path string, lines []string) error {
	return os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// ShortLabels cuts labels at a |: those of WebKB have the university after the class.
func ShortLabels(lines []string) {
	for i, line := range lines {
		label, text, _ := strings.Cut(line, "\t")
		label, _, _ = strings.Cut(label, "|")
		lines[i] = label + "\t" + text
	}
}
