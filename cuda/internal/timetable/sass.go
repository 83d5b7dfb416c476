package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// counted are the kernels whose machine code is counted: those that a matrix takes.
var counted = []string{"tailAdd", "panelDot", "panelTensor", "closePairs", "digest", "least", "multiplyRows"}

// code is what an assembler makes of a kernel.
type code struct {
	registers, spilled string
	all, loop          tally
}

// tally counts instructions: all, loads of the device's memory, of shared memory, additions to it,
// and products.
type tally struct{ instructions, global, shared, atomic, products int }

func (t *tally) add(instruction string) {
	t.instructions++
	for prefix, n := range map[string]*int{"LDG": &t.global, "LDS": &t.shared, "ATOMS": &t.atomic,
		"FFMA": &t.products, "IMAD.WIDE ": &t.products, "IMMA": &t.products} {
		if strings.HasPrefix(instruction+" ", prefix) {
			*n++
		}
	}
}

func (t tally) String() string {
	return fmt.Sprintf("%d | %d | %d | %d | %d", t.instructions, t.global, t.shared, t.atomic, t.products)
}

// sass prints what the assembler makes of PTX for three architectures: of each kernel registers and
// bytes of spilled ones, and instructions, of all of it and of that loop without another in it that has most products,
// or else most additions to shared memory or loads.
func sass(out io.Writer, ptx string) error {
	dir, err := os.MkdirTemp("", "timetable")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(out, "| kernel | architecture | registers | spilled bytes | instructions | global loads | shared loads "+
		"| shared additions | products | of a loop: instructions | global loads | shared loads | shared additions "+
		"| products |\n| --- | --- |"+strings.Repeat(" --- |", 12))
	architectures := []string{"sm_80", "sm_90", "sm_100"}
	words, text := map[string][]byte{}, map[string][]byte{}
	for _, arch := range architectures {
		cubin := filepath.Join(dir, arch)
		words[arch], err = exec.Command(cmp.Or(os.Getenv("PTXAS"), "ptxas"), "-v", "-arch="+arch, ptx, "-o", cubin).
			CombinedOutput()
		if err != nil {
			return fmt.Errorf("ptxas: %w\n%s", err, words[arch])
		}
		text[arch], err = exec.Command(cmp.Or(os.Getenv("NVDISASM"), "nvdisasm"), "-c", cubin).Output()
		if err != nil {
			return fmt.Errorf("nvdisasm: %w", err)
		}
	}
	for _, name := range counted {
		for _, arch := range architectures {
			c, err := codeOf(name, words[arch], text[arch])
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s | %v | %v |\n", name, arch, c.registers, c.spilled, c.all, c.loop)
		}
	}
	return nil
}

var (
	usage       = `(?s)entry function '%s'.*?(\d+) bytes spill stores.*?Used (\d+) registers`
	instruction = regexp.MustCompile(`^/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*)`)
	branch      = regexp.MustCompile(`\.L_x_\d+`)
)

// codeOf reads what ptxas -v says and nvdisasm -c prints of a kernel.
func codeOf(name string, words, text []byte) (c code, err error) {
	m := regexp.MustCompile(fmt.Sprintf(usage, regexp.QuoteMeta(name))).FindSubmatch(words)
	_, body, ok := bytes.Cut(text, []byte("\n.text."+name+":\n"))
	if m == nil || !ok {
		return c, fmt.Errorf("no kernel %s", name)
	}
	c.spilled, c.registers = string(m[1]), string(m[2])
	body, _, _ = bytes.Cut(body, []byte("\n//-----"))
	at := map[string]tally{} // what comes before a label
	inner := 0               // instructions up to the end of the last loop
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".L_x_") {
			at[strings.TrimSuffix(line, ":")] = c.all
		}
		i := instruction.FindStringSubmatch(line)
		if i == nil || i[1] == "NOP" {
			continue
		}
		c.all.add(i[1] + " ")
		before, back := at[branch.FindString(i[2])]
		if !back || i[1] != "BRA" {
			continue
		}
		if loop := c.all.less(before); before.instructions >= inner && loop.weight() > c.loop.weight() {
			c.loop = loop
		}
		inner = c.all.instructions
	}
	return c, nil
}

// less is what has come since.
func (t tally) less(o tally) tally {
	return tally{t.instructions - o.instructions, t.global - o.global, t.shared - o.shared, t.atomic - o.atomic,
		t.products - o.products}
}

// weight is by what a loop is the one that counts.
func (t tally) weight() int { return 1000*t.products + 100*t.atomic + t.global }
