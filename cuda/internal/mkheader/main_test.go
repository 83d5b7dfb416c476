package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The header selects the 64-bit entry points, and omits the C library's declarations at the start
// of the module's header.
func TestConvert(t *testing.T) {
	const source = "typedef int of_the_c_library;\ntypedef uint32_t cuuint32_t;\nint cuMemAlloc(void);\n"
	header := musttest.Get(convert([]byte(source)))(t)
	text := string(header)
	for _, want := range []string{
		"#define cuMemAlloc cuMemAlloc_v2\n",
		"#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3\n",
		"\ntypedef uint32_t cuuint32_t;\nint cuMemAlloc(void);\n#endif\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the header has no %q", want)
		}
	}
	if strings.Contains(text, "of_the_c_library") {
		t.Error("the header has what comes before the driver's declarations")
	}
	musttest.WantError(convert([]byte("int x;\n")))(t, "another file", firstDeclaration)
}

// An up-to-date header isn't rewritten, so that nothing is recompiled.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	musttest.WantError(run(nil))(t, "no directory")
	if err := run([]string{dir}); err != nil {
		t.Skip(err) // the module isn't available
	}
	path := filepath.Join(dir, "cuda.h")
	before := musttest.Get(os.Stat(path))(t)
	musttest.NoError(t, run([]string{dir}))
	if after, err := os.Stat(path); err != nil || after.ModTime() != before.ModTime() {
		t.Errorf("the header is written again: error %v", err)
	}
}
