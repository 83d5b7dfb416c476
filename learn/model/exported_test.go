package model_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	k := kernel.MustParse("linear")
	problem := doortest.Must(svm.NewProblem(t.Context(), c, k.Embedding(), svm.Options{Workers: 1}))
	m, _, err := problem.Train(t.Context(), svm.Settings{Kernel: k})
	if err != nil {
		t.Fatal(err)
	}
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	foreign := "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\n" +
		"SV\n1 1:1 \n-1 2:1 \n"
	doortest.Run(t, doortest.Package{
		Good: []any{m, &model.SyntaxError{}},
		Calls: [][]any{
			{model.Load, file}, {model.LoadEarly, file, nil}, {model.Read, reader(text)},
			{model.ReadLIBSVM, reader(foreign), "libsvm.model"},
			{model.ReadEarly, func() *bufio.Reader { return bufio.NewReader(reader(text)()) }, int64(len(text)), file, nil},
			{"Model.Save", "model"}, {"Model.SaveLIBSVM", "libsvm.model"}, {"Type.Used"},
		},
	})
}

func reader(text string) func() *strings.Reader {
	return func() *strings.Reader { return strings.NewReader(text) }
}
