package doors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func modelCases() map[string]testCase {
	return map[string]testCase{
		"model.Load":              {run: modelFiles},
		"model.LoadEarly":         {run: modelFiles},
		"model.Model.Labels":      {run: modelLabels},
		"model.Model.Save":        {run: modelFiles},
		"model.Model.SaveLIBSVM":  {run: modelFiles},
		"model.Model.Validate":    {run: modelValidate},
		"model.Model.Write":       {run: modelValidate},
		"model.Model.WriteLIBSVM": {run: modelValidate},
		"model.Read":              {run: modelRead},
		"model.ReadLIBSVM":        {run: modelRead},
		"model.Type.Used":         {run: typeUsed},
	}
}

// trainingCorpus draws a corpus that can be trained on: two documents of each of so many classes at
// least.
func (p *program) trainingCorpus(classes int) *sparse.Corpus {
	m := p.matrixOf(pick(p, 2*classes, 10*classes, 20), pick(p, 3, 30))
	c := &sparse.Corpus{Source: "drawn", Documents: m}
	for k := range classes {
		c.Classes = append(c.Classes, fmt.Sprint("class ", k))
	}
	for i := range m.Rows() {
		c.Labels.Add(int32(i % classes))
	}
	return c
}

// model trains a model.
func (p *program) model() *model.Model {
	k := pick(p, "diffusion:t=0.5", "linear", "rbf:gamma=0.1", "arccos:n=1")
	kernel := engine.MustParseKernel(k)
	c := p.trainingCorpus(pick(p, 2, 3))
	pr, err := svm.NewProblem(p.ctx, c, kernel.Embedding(), svm.Options{Workers: 1})
	if err != nil {
		panic(err)
	}
	m, _, err := pr.Train(p.ctx, svm.Settings{Kernel: kernel, Scheme: pick(p, solver.OneVsOne, solver.OneVsRest)})
	if err != nil {
		panic(err)
	}
	return m
}

// spoil draws a model that can't be one, from one that can, and says why.
func (p *program) spoil(m *model.Model) (*model.Model, string) {
	w := *m
	w.Classifier.Machines = slices.Clone(m.Classifier.Machines)
	for i, f := range w.Classifier.Machines {
		if f != nil {
			g := *f
			g.Support, g.Coef = slices.Clone(f.Support), slices.Clone(f.Coef)
			w.Classifier.Machines[i] = &g
		}
	}
	f := w.Classifier.Machines[0]
	w.SupportClass, w.SupportDoc, w.Support = slices.Clone(m.SupportClass), slices.Clone(m.SupportDoc), clone(m.Support)
	for {
		switch p.IntN(19) {
		case 0:
			w.Embedder = nil
			return &w, "no embedder"
		case 1:
			w.Support = nil
			return &w, "no support vectors"
		case 2:
			w.Classifier.Machines = w.Classifier.Machines[1:]
			return &w, "a machine short"
		case 3:
			w.Classifier.Machines = nil
			return &w, "no machines"
		case 4:
			w.Classifier.Machines[0] = nil
			return &w, "no first machine"
		case 5:
			w.Classifier.Classes = pick(p, -1, 0, 1<<40, math.MaxInt, math.MinInt)
			return &w, "another number of classes"
		case 6:
			w.Classifier.Scheme = pick(p, solver.Scheme(-1), 9)
			return &w, "no scheme"
		case 7:
			w.Classes = w.Classes[1:]
			return &w, "a class short"
		case 8:
			w.Classes = slices.Clone(w.Classes)
			w.Classes[0] = w.Classes[1]
			return &w, "a class twice"
		case 9:
			w.Type = "nonsense"
			return &w, "no type"
		case 10:
			w.Kernel = ""
			return &w, "no kernel"
		case 11:
			if len(f.Coef) > 0 {
				f.Coef[0] = p.notFinite()
				return &w, "a coefficient that isn't finite"
			}
		case 12:
			if len(f.Coef) > 0 {
				f.Coef = f.Coef[1:]
				return &w, "a coefficient short"
			}
		case 13:
			if len(f.Support) > 0 {
				f.Support[0] = p.outside(w.Support.Rows())
				return &w, "a support vector that there isn't"
			}
		case 14:
			f.Rho = p.notFinite()
			return &w, "a rho that isn't finite"
		case 15:
			if len(w.SupportClass) > 0 {
				w.SupportClass[0] = pick(p, int32(len(w.Classes)), -2, math.MaxInt32)
				return &w, "a support vector of a class that there isn't"
			}
		case 16:
			w.SupportDoc = append(w.SupportDoc, 0)
			return &w, "a document too many"
		case 17:
			w.Support.Offsets[len(w.Support.Offsets)-1] = math.MaxInt64
			return &w, "an offset of 2⁶³-1"
		case 18:
			w.Settings.C = p.notFinite()
			return &w, "a setting that isn't finite"
		}
	}
}

func modelValidate(p *program) {
	m := p.model()
	p.good("of a trained model", m.Validate)
	p.good("Write", func() error { return m.Write(p.ctx, io.Discard) })
	p.any("WriteLIBSVM", func() error { _, err := m.WriteLIBSVM(p.ctx, io.Discard, model.LIBSVMOptions{}); return err })
	p.any("WriteLIBSVM, precomputed", func() error {
		_, err := m.WriteLIBSVM(p.ctx, io.Discard, model.LIBSVMOptions{Precomputed: true})
		return err
	})
	for range 5 {
		w, why := p.spoil(m)
		p.bad("of a model with "+why, w.Validate)
		p.bad("Write of a model with "+why, func() error { return w.Write(p.ctx, io.Discard) })
		p.bad("WriteLIBSVM of a model with "+why, func() error {
			_, err := w.WriteLIBSVM(p.ctx, io.Discard, model.LIBSVMOptions{})
			return err
		})
		p.bad("NewPredictor of a model with "+why, func() error {
			_, err := svm.NewPredictor(w, svm.PredictOptions{})
			return err
		})
	}
	p.bad("of the zero value", (&model.Model{}).Validate)
	p.bad("Write of the zero value", func() error { return (&model.Model{}).Write(p.ctx, io.Discard) })
	p.bad("of nil", (*model.Model)(nil).Validate)
	p.bad("Write to nothing", func() error { return m.Write(p.ctx, nil) })
	p.bad("WriteLIBSVM to nothing", func() error {
		_, err := m.WriteLIBSVM(p.ctx, nil, model.LIBSVMOptions{})
		return err
	})
	p.bad("Write to what fails", func() error { return m.Write(p.ctx, failing{}) })
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("writer: failed") }
func (failing) Read([]byte) (int, error)  { return 0, errors.New("reader: failed") }

func modelLabels(p *program) {
	m := p.model()
	p.good("of a trained model", func() error { _, err := m.Labels(); return err })
	w := model.Model{Classes: pick(p, nil, []string{}, []string{"1", "1"}, []string{"1", "1.5"},
		[]string{"99999999999", "1"}, []string{"", "a"})}
	p.any(fmt.Sprint("of ", w.Classes), func() error { _, err := w.Labels(); return err })
}

func modelFiles(p *program) {
	m := p.model()
	dir := p.folder()
	name := filepath.Join(dir, "model")
	p.good("Save and Load", func() error {
		err := m.Save(p.ctx, name)
		if err == nil {
			var back *model.Model
			back, err = model.Load(p.ctx, name)
			if err == nil && !slices.Equal(back.Classes, m.Classes) {
				p.fails("the classes %v, expected %v", back.Classes, m.Classes)
			}
		}
		return err
	})
	p.any("SaveLIBSVM", func() error { _, err := m.SaveLIBSVM(p.ctx, name+"2", model.LIBSVMOptions{}); return err })
	p.bad("Save to a folder", func() error { return m.Save(p.ctx, dir) })
	p.bad("Save to nowhere", func() error { return m.Save(p.ctx, "") })
	p.bad("SaveLIBSVM to nowhere", func() error {
		_, err := m.SaveLIBSVM(p.ctx, "/nowhere/x", model.LIBSVMOptions{Precomputed: true})
		return err
	})
	p.bad("Load of a folder", func() error { _, err := model.Load(p.ctx, dir); return err })
	p.bad("Load of nothing", func() error { _, err := model.Load(p.ctx, ""); return err })
	ended, cancel := context.WithCancel(p.ctx)
	cancel()
	if err := m.Save(ended, name); !errors.Is(err, context.Canceled) {
		p.fails("Save after the end of the context: %v", err)
	}
}

// modelRead spoils files; FuzzRead and FuzzReadLIBSVM try more.
func modelRead(p *program) {
	m := p.model()
	var b bytes.Buffer
	if err := m.Write(p.ctx, &b); err != nil {
		p.fails("%v", err)
		return
	}
	read := func(of []byte) func() error {
		return func() error { _, err := model.Read(p.ctx, bytes.NewReader(of)); return err }
	}
	p.good("what was written", func() error {
		back, err := model.Read(p.ctx, bytes.NewReader(b.Bytes()))
		if err == nil && !reflect.DeepEqual(back.Support, m.Support) && m.Support.NNZ() > 0 {
			p.fails("other support vectors")
		}
		return err
	})
	whole := b.Bytes()
	p.bad("half of it", read(whole[:p.IntN(len(whole))]))
	p.bad("more than it", read(append(slices.Clone(whole), 0)))
	wrong := slices.Clone(whole)
	wrong[p.IntN(len(wrong))] ^= 1 << p.IntN(8)
	p.bad("a bit wrong", read(wrong))
	p.bad("nothing", read(nil))
	p.bad("what fails", func() error { _, err := model.Read(p.ctx, failing{}); return err })
	p.bad("no reader", func() error { _, err := model.Read(p.ctx, nil); return err })
	p.bad("LIBSVM: no reader", func() error { _, err := model.ReadLIBSVM(p.ctx, nil, "x"); return err })
	p.bad("LIBSVM: what fails", func() error { _, err := model.ReadLIBSVM(p.ctx, failing{}, "x"); return err })
	b.Reset()
	if _, err := m.WriteLIBSVM(p.ctx, &b, model.LIBSVMOptions{}); err == nil {
		text := b.Bytes()
		text[p.IntN(len(text))] = byte(p.IntN(256))
		p.any("LIBSVM: a byte wrong", func() error {
			m, err := model.ReadLIBSVM(p.ctx, bytes.NewReader(text), "x")
			if err == nil {
				err = m.Validate()
			}
			return err
		})
	}
}

func typeUsed(p *program) {
	v := p.notFinite()
	for _, t := range []model.Type{model.CSVC, model.NuSVC, model.OneClass, model.EpsilonSVR, model.NuSVR, "nonsense"} {
		p.quiet(fmt.Sprintf("%s of %v", t, v), func() { _, _, _ = t.Used(v, v, v) })
	}
}
