package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gramengine/gram/internal/musttest"
)

// These are models with three classes, two classes in an unusual layout, and of each other type.
const (
	threeClasses = `svm_type c_svc
kernel_type polynomial
degree 2
gamma 0.5
coef0 -1
nr_class 3
total_sv 4
rho 0.5 -1 2e-3
label 7 -1 3
probA -1 -2 -3
probB 0 0.5 1
nr_sv 2 1 1
SV
1 0 1:1.5 3:-2
0.5 0.25 
-1 -0.125 2:1e-3 4:0 
-0.75 0.125 1:2
`
	odd = "nr_sv 1 1\r\nlabel 1 2\r\ngamma .25\r\nkernel_type rbf\r\nrho -0\r\n" +
		"total_sv 2\r\nnr_class 2\r\nsvm_type nu_svc\r\nSV\r\n+1\t0:3\t2147483647:1e-50\r\n -1 \r\n\r\n"
	regression   = "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nprobA 0.5\nSV\n2 1:3"
	oneClassText = "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 1\nprob_density_marks " +
		"1 2 3\nSV\n0.5 0:12 \n0.5 0:3 \n"
)

func readText(text string) (*Model, error) { return ReadLIBSVM(ctx, strings.NewReader(text), "m.txt") }

// The expected values were computed by hand, such as the positive class of each binary classifier.
func TestReadLIBSVM(t *testing.T) {
	m := musttest.Get(readText(threeClasses))(t)
	describe := func(m *Model) string {
		s := fmt.Sprintln(m.Type, m.Kernel, m.Classes, m.Classifier.Scheme, m.Vocabulary == nil,
			m.Embedder.Embedding, m.Embedder.Open, m.Embedder.Documents, m.Embedder.Terms, m.Embedder.DF)
		for _, machine := range m.Classifier.Functions {
			s += fmt.Sprint(machine.Support, machine.Coef, machine.Rho)
			if machine.Sigmoid != nil {
				s += fmt.Sprint(*machine.Sigmoid)
			}
			s += "\n"
		}
		return s + fmt.Sprintln(
			m.Support.Cols, m.Support.Offsets, m.Support.Terms, m.Support.Values, m.SupportDocs, m.SupportClasses,
		)
	}
	got := describe(m)
	want := `c_svc polynomial:gamma=0.5,r=-1,degree=2 [7 -1 3] one-vs-one true tf true 4 [0 1 2] [2 1 1]
[0 1 2] [1 0.5 -1] 0.5{-1 0}
[1 3] [0.25 -0.75] -1{-2 0.5}
[2 3] [-0.125 0.125] 0.002{-3 1}
4 [0 2 2 4 5] [0 2 1 3 0] [1.5 -2 0.001 0 2] [-1 -1 -1 -1] [0 0 1 2]
`
	if got != want {
		t.Errorf("%s, expected\n%s", got, want)
	}
	m = musttest.Get(readText(odd))(t)
	if got, want := describe(m), `nu_svc rbf:gamma=0.25 [1 2] one-vs-one true tf true 2 [0] [1]
[0 1] [1 -1] 0
2147483648 [0 2 2] [0 2147483647] [3 0] [-1 -1] [0 1]
`; got != want {
		t.Errorf("%s, expected\n%s", got, want)
	}
	m = musttest.Get(readText(regression))(t)
	if got, want := describe(m), `epsilon_svr linear [] one-vs-rest true tf true 1 [0] [1]
[0] [2] 1
1 [0 1] [0] [3] [-1] [-1]
`; got != want {
		t.Errorf("%s, expected\n%s", got, want)
	}
	m = musttest.Get(readText(oneClassText))(t)
	if got, want := describe(m), `one_class precomputed [] one-vs-rest true tf true 2 [] []
[0 1] [0.5 0.5] 1
0 [0 0 0] [] [] [11 2] [-1 -1]
`; got != want {
		t.Errorf("%s, expected\n%s", got, want)
	}
}

func TestReadLIBSVMErrors(t *testing.T) {
	replace := func(text, old, by string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q isn't there", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ text, want string }{
		{"", "m.txt:1: found the end of the file, expected a LIBSVM header"},
		{"svm_type c_svc\n", "m.txt:2: found the end of the file"},
		{"svm_type c_svc\n\nSV\n", "m.txt:2: found an empty line"},
		{"1 1:2\n", `m.txt:1: found "1", expected one of svm_type,`},
		{long + "\n", `m.txt:1: found "` + long[:40] + `"..., expected`},
		{"SV\n", "m.txt:1: found SV, expected a line svm_type before SV"},
		{replace(threeClasses, "coef0", "gamma"), "m.txt:5: found repeated key gamma, expected each key once (first in"},
		{replace(threeClasses, "c_svc", "svc"), `m.txt:1: found svm_type "svc", expected one of [c_svc`},
		{replace(threeClasses, "c_svc", "c_svc nu_svc"), `m.txt:1: found svm_type with 2 values, expected 1`},
		{replace(threeClasses, "polynomial", "cubic"), `m.txt:2: found kernel_type "cubic"`},
		{replace(threeClasses, "degree 2", "degree 2.5"), `m.txt:3: found 2.5, expected a non-negative integer`},
		{replace(threeClasses, "degree 2", "degree -2"), `m.txt:3: found -2, expected a non-negative integer`},
		{replace(threeClasses, "gamma 0.5\n", ""), "m.txt:12: found SV, expected a line gamma before SV"},
		{replace(threeClasses, "gamma 0.5", "gamma 0x1p3"), `m.txt:4: found gamma "0x1p3", expected a finite number`},
		{replace(threeClasses, "coef0 -1", "coef0 inf"), `m.txt:5: found coef0 "inf"`},
		{
			replace(threeClasses, "nr_class 3", "nr_class 0"),
			`m.txt:6: found nr_class "0", expected an integer from 1`,
		},
		{
			replace(threeClasses, "nr_class 3", "nr_class 2147483647"),
			"m.txt:9: found label with 3 values, expected 2147483647",
		},
		{replace(threeClasses, "total_sv 4", "total_sv -4"), `m.txt:7: found total_sv "-4"`},
		{
			replace(threeClasses, "total_sv 4", "total_sv 5"),
			"m.txt:12: found 4 support vectors in total, expected 5, the value of total_sv in line 7",
		},
		{replace(threeClasses, "rho 0.5", "rho 0.5 1"), "m.txt:8: found rho with 4 values, expected 3"},
		{replace(threeClasses, "2e-3", "2e-3x"), `m.txt:8: found rho "2e-3x"`},
		{replace(threeClasses, "2e-3", "2e999"), `m.txt:8: found rho "2e999"`},
		{replace(threeClasses, "label 7", "label 3"), "m.txt:9: found label 3 twice"},
		{
			replace(threeClasses, "label 7", "label 7.5"),
			`m.txt:9: found label "7.5", expected an integer from -2147483648`,
		},
		{replace(threeClasses, "probB 0 0.5 1\n", ""), "m.txt:12: found SV, expected a line probB before SV"},
		{replace(threeClasses, "probA -1 -2 -3\n", ""), "m.txt:12: found SV, expected a line probA before SV"},
		{replace(threeClasses, "nr_sv 2", "nr_sv -2"), `m.txt:12: found nr_sv "-2"`},
		{
			replace(threeClasses, "1 0 1:1.5", "1 1:1.5"),
			`m.txt:14: found coefficient 2: "1:1.5", expected 2 finite numbers`,
		},
		{replace(threeClasses, "0.5 0.25 \n", "0.5\n"), `m.txt:15: found coefficient 2: "", expected 2`},
		{replace(threeClasses, "0.5 0.25 \n", "nan 1\n"), `m.txt:15: found coefficient 1: "nan"`},
		{replace(threeClasses, "3:-2", "1:-2"), "m.txt:14: found index 1 after 1, expected ascending indices"},
		{replace(threeClasses, "3:-2", "3:"), `m.txt:14: found index 3: "", expected a number in the range of float32`},
		{replace(threeClasses, "3:-2", "3:1e39"), `m.txt:14: found index 3: "1e39"`},
		{replace(threeClasses, "3:-2", "3"), `m.txt:14: found "3", expected index:value`},
		{
			replace(threeClasses, "1:1.5", "-1:1.5"),
			`m.txt:14: found "-1:1.5", expected index:value with an index from 0 to 2147483647`,
		},
		{replace(threeClasses, "3:-2", "2147483648:-2"), `m.txt:14: found "2147483648:-2"`},
		{
			replace(threeClasses, "-0.75 0.125 1:2\n", ""),
			"m.txt:17: found the end of the file after 3 support vectors, expected 4",
		},
		{threeClasses + "\n1 2 3\n", `m.txt:19: found "1 2 3", expected the end of the file after 4 support vectors`},
		{
			replace(regression, "nr_class 2", "nr_class 3"),
			`m.txt:3: found nr_class "3", expected an integer from 2 to 2`,
		},
		{replace(regression, "rho 1", "label 1\nrho 1"), "m.txt:5: found label, expected no line label for type epsilon_svr"},
		{replace(oneClassText, "rho 1", "rho 1\nprobA 1"), "m.txt:6: found probA, expected no line probA for type one_class"},
		{replace(oneClassText, "0:12", "0:0"), `m.txt:8: found "0:0", expected 0:n`},
		{replace(oneClassText, "0:12", "1:12"), `m.txt:8: found "1:12", expected 0:n`},
		{replace(oneClassText, "0:12", "0:12 1:1"), `m.txt:8: found "0:12 1:1", expected 0:n`},
	} {
		var bad *SyntaxError
		if _, err := readText(c.text); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	musttest.WantError(ReadLIBSVM(ended, strings.NewReader(threeClasses), "m.txt"))(t, "after the end", context.Canceled)
	musttest.WantError(ReadLIBSVM(
		ctx, io.MultiReader(strings.NewReader(threeClasses[:80]), iotest.ErrReader(io.ErrClosedPipe)), "m.txt",
	))(t, "an error of the reader", io.ErrClosedPipe)
}

// A line may be longer than the buffer.
func TestLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(regression, " 1:3"))
	const n = 200000
	for i := range n {
		fmt.Fprintf(&b, " %d:%d", i, i%7+1)
	}
	m := musttest.Get(readText(b.String()))(t)
	if m.Support.NNZ() != n || m.Support.Terms[n-1] != n-1 || m.Support.Values[n-1] != (n-1)%7+1 {
		t.Errorf("%d values", m.Support.NNZ())
	}
}

// Numbers in the header don't allocate memory.
func TestLIBSVMHeaderThatLies(t *testing.T) {
	for _, text := range []string{
		strings.Replace(threeClasses, "nr_class 3", "nr_class 65536", 1),
		strings.Replace(
			strings.Replace(threeClasses, "nr_sv 2 1 1", "nr_sv 2147483645 1 1", 1), "total_sv 4",
			"total_sv 2147483647", 1,
		),
		strings.Replace(regression, "total_sv 1", "total_sv 2147483647", 1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readText(text)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<20 {
			t.Errorf("%v, with %d bytes for a file of %d", err, took, len(text))
		}
	}
}
