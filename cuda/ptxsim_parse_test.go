//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The files ptxsim_*_test.go interpret the subset of PTX that LLVM emits for this project's
// kernels, on computers without a GPU. Errors are unknown instructions, undeclared registers and
// registers of the wrong size, reads of unwritten values, out-of-bounds and misaligned accesses,
// and barriers that not all threads of a block reach. Threads run one at a time.

// ptxModule is a parsed PTX file.
type ptxModule struct {
	Entries map[string]*ptxEntry
}

// ptxEntry is a kernel.
type ptxEntry struct {
	Name       string
	MaxThreads int // declared maximum number of threads

	params     map[string]param
	paramBytes int
	registers  map[string]int
	kinds      []string // declared types of registers
	code       []instruction
	text       []string                  // text of each instruction
	warp       map[int]func(w []*thread) // instructions that warps execute together
	shared     map[string]int64
	local      int64  // bytes of local memory per thread
	static     int64  // bytes of shared memory
	dynamic    string // name of the shared memory whose size is set at the launch
}

type param struct{ offset, size, index int }

// instruction executes for one thread and advances its program counter.
type instruction func(t *thread)

// simError is the panic value of fail, which parsePTX and Run recover.
type simError struct{ text string }

func fail(format string, args ...any) { panic(simError{fmt.Sprintf(format, args...)}) }

func caught(err *error) {
	if x := recover(); x != nil {
		e, ok := x.(simError)
		if !ok {
			panic(x)
		}
		*err = fmt.Errorf("ptx: %s", e.text)
	}
}

// sizes of types in bytes; predicates have none.
var sizes = map[string]int{
	"b8": 1, "u8": 1, "s8": 1,
	"b16": 2, "u16": 2, "s16": 2,
	"b32": 4, "u32": 4, "s32": 4, "f32": 4,
	"b64": 8, "u64": 8, "s64": 8, "f64": 8,
}

var (
	entryPattern    = regexp.MustCompile(`(?s)\.visible\s+\.entry\s+(\w+)\((.*?)\)(.*?)\{`)
	dynamicPattern  = regexp.MustCompile(`\.extern\s+\.shared\s+\.align\s+\d+\s+\.b8\s+(\w+)\[\]`)
	threadsPattern  = regexp.MustCompile(`\.maxntid\s+(\d+)`)
	registerPattern = regexp.MustCompile(`^\.reg\s+\.(\w+)\s+(%\w+)<(\d+)>$`)
	oneRegister     = regexp.MustCompile(`^\.reg\s+\.(\w+)\s+(%?\w+)$`)
	sharedPattern   = regexp.MustCompile(`^\.shared\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]$`)
	localPattern    = regexp.MustCompile(`^\.local\s+\.align\s+\d+\s+\.b8\s+([\w$]+)\[(\d+)\]$`)
	labelPattern    = regexp.MustCompile(`^(\$?[\w$]+):\s*`)
)

func parsePTX(src string) (m *ptxModule, err error) {
	defer caught(&err)
	var b strings.Builder
	for line := range strings.SplitSeq(src, "\n") {
		line, _, _ = strings.Cut(line, "//")
		b.WriteString(line + "\n")
	}
	s := b.String()
	m = &ptxModule{Entries: map[string]*ptxEntry{}}
	get := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(s)
		if found == nil {
			fail("nothing like %s", pattern)
		}
		return found[1]
	}
	if get(`\.address_size\s+(\d+)`) != "64" {
		fail("addresses that don't have 64 bits")
	}
	dynamic := ""
	if found := dynamicPattern.FindStringSubmatch(s); found != nil {
		dynamic = found[1]
	}
	for {
		at := entryPattern.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		e := &ptxEntry{
			Name: s[at[2]:at[3]], params: map[string]param{}, warp: map[int]func([]*thread){},
			registers: map[string]int{}, shared: map[string]int64{}, dynamic: dynamic,
		}
		m.Entries[e.Name] = e
		e.parameters(s[at[4]:at[5]])
		if found := threadsPattern.FindStringSubmatch(s[at[6]:at[7]]); found != nil {
			e.MaxThreads, _ = strconv.Atoi(found[1])
		}
		body := s[at[1]:]
		end := closing(body)
		if end < 0 {
			fail("%s: no closing brace", e.Name)
		}
		e.build(body[:end])
		s = body[end+1:]
	}
	if strings.Contains(s, "{") {
		fail("text after the last entry")
	}
	return m, nil
}

// parameters reads the parameter list.
func (e *ptxEntry) parameters(list string) {
	offset := 0
	for i, p := range strings.Split(list, ",") {
		f := strings.Fields(p)
		if len(f) == 0 {
			continue
		}
		size := sizes[strings.TrimPrefix(f[1], ".")]
		if f[0] != ".param" || size == 0 {
			fail("parameter %q", p)
		}
		offset = (offset + size - 1) &^ (size - 1)
		e.params[f[len(f)-1]] = param{offset, size, i}
		offset += size
	}
	e.paramBytes = offset
}

// closing returns the index of the brace that closes a brace opened before the text, or -1.
func closing(text string) int {
	depth := 1
	for i := range text {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// build reads declarations, labels and instructions. A brace that begins a statement opens a scope
// with separate register names.
func (e *ptxEntry) build(body string) {
	labels := map[string]int{}
	scopes := 0
	for s := range strings.SplitSeq(strings.ReplaceAll(body, "\n", " "), ";") {
		for s = strings.TrimSpace(s); ; {
			if l := labelPattern.FindStringSubmatch(s); l != nil {
				labels[l[1]] = len(e.text)
				s = strings.TrimSpace(s[len(l[0]):])
			} else if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "}") {
				scopes++
				s = strings.TrimSpace(s[1:])
			} else {
				break
			}
		}
		switch r := registerPattern.FindStringSubmatch(s); {
		case s == "" || strings.HasPrefix(s, ".pragma"):
		case r != nil:
			n, _ := strconv.Atoi(r[3])
			for i := range n {
				e.declare(fmt.Sprintf("%s%d", r[2], i), r[1])
			}
		case oneRegister.MatchString(s):
			r := oneRegister.FindStringSubmatch(s)
			e.declare(r[2], r[1])
		case localPattern.MatchString(s): // a single array, at offset 0
			r := localPattern.FindStringSubmatch(s)
			e.shared[r[1]] = 0
			e.local, _ = strconv.ParseInt(r[2], 10, 64)
		case sharedPattern.MatchString(s):
			r := sharedPattern.FindStringSubmatch(s)
			align, _ := strconv.ParseInt(r[1], 10, 64)
			size, _ := strconv.ParseInt(r[3], 10, 64)
			e.static = (e.static + align - 1) &^ (align - 1)
			e.shared[r[2]] = e.static
			e.static += size
		default:
			e.text = append(e.text, s)
		}
	}
	if e.dynamic != "" {
		e.static = (e.static + 15) &^ 15
		e.shared[e.dynamic] = e.static
	}
	for _, s := range e.text {
		e.code = append(e.code, e.compile(s, labels))
	}
	e.code = append(e.code, func(t *thread) { t.state = done })
	e.text = append(e.text, "(end)")
}

// declare adds a register. A register that is declared again in another scope is the same.
func (e *ptxEntry) declare(name, kind string) {
	if at, ok := e.registers[name]; ok {
		if e.kinds[at] != kind {
			fail("%s: register %s is declared as .%s and .%s", e.Name, name, e.kinds[at], kind)
		}
		return
	}
	e.registers[name] = len(e.kinds)
	e.kinds = append(e.kinds, kind)
}
