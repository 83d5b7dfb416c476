package benchlibsvm

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/gramengine/gram/lab/internal/peers"
)

// trial is the measurement on one corpus.
type trial struct {
	*bench
	corpus dataset
	read   string // what gram says of the documents

	names map[string]string // class by the number that stands for it in vectors
	lines []*line

	pairs       int     // of classes
	worst       float64 // greatest relative difference of objectives
	same, tests int     // predictions that are the same, of how many
}

// line is a line of the table.
type line struct {
	what, program, kernel string
	runs                  peers.Runs
	accuracy              float64 // NaN where nothing is predicted
	against               *line   // what it is compared with; nil for that itself
}

// line adds a line to the table.
func (t *trial) line(what, program, kernel string, against *line) *line {
	l := &line{what: what, program: program, kernel: kernel, accuracy: math.NaN(), against: against}
	t.lines = append(t.lines, l)
	return l
}

// measure writes what the programs read and runs them in turn.
func (t *trial) measure(ctx context.Context) error {
	t.Say("%s: writing vectors", t.corpus.name)
	if err := t.export(ctx); err != nil {
		return err
	}
	gaussian := "rbf:gamma=" + number(t.gamma)
	own := []*ownModel{
		{kernel: gaussian + ",embed=tf-l1-sqrt", file: t.File("rbf.model"), predictions: t.File("rbf.out")},
		{kernel: t.kernel, file: t.File("sphere.model"), predictions: t.File("sphere.out")},
	}
	shown := []string{gaussian, t.kernel}
	var svmTrain, svmPredict, svc *line
	if t.svmTrain != "" {
		svmTrain = t.line("train", "svm-train", gaussian, nil)
	}
	for i, m := range own {
		m.train = t.line("train", "gram", shown[i], svmTrain)
	}
	if t.corpus.test != "" {
		if t.svmTrain != "" && t.svmPredict != "" {
			svmPredict = t.line("predict", "svm-predict", gaussian, nil)
		}
		for i, m := range own {
			m.predict = t.line("predict", "gram", shown[i], svmPredict)
		}
	}
	if t.Python != "" {
		svc = t.line("solve", "scikit-learn", t.kernel, nil)
	}
	own[1].solve = t.line("solve", "gram", t.kernel, svc)
	for round := range t.Rounds + 1 { // gram runs before and after each of the others
		var objectives []float64
		if round > 0 {
			t.Say("%s: round %d of %d", t.corpus.name, round, t.Rounds)
			var err error
			if objectives, err = t.runOthers(ctx, svmTrain, svmPredict, svc); err != nil {
				return err
			}
		}
		for range t.own {
			for _, m := range own {
				if err := t.runOwn(ctx, m); err != nil {
					return err
				}
			}
		}
		if objectives != nil {
			if err := t.compare(own[0], objectives, svmPredict); err != nil {
				return err
			}
		}
	}
	return nil
}

// runOthers runs the programs whose lines are there, and returns the objectives of svm-train.
func (t *trial) runOthers(ctx context.Context, svmTrain, svmPredict, svc *line) (objectives []float64, err error) {
	var r peers.Ran
	if svmTrain != nil {
		if r, objectives, err = t.svmTrainRun(ctx, t.File("train.svm"), t.File("libsvm.model")); err != nil {
			return nil, err
		}
		svmTrain.runs = append(svmTrain.runs, r)
	}
	if svmPredict != nil {
		r, err = t.Execute(ctx, t.svmPredict, t.File("test.svm"), t.File("libsvm.model"), t.File("libsvm.out"))
		if err != nil {
			return nil, err
		}
		svmPredict.runs = append(svmPredict.runs, r)
	}
	if svc != nil {
		if r, svc.program, err = t.fit(ctx, t.File("gram.npy"), t.File("train.svm")); err != nil {
			return nil, err
		}
		svc.runs = append(svc.runs, r)
	}
	return objectives, nil
}

// ownModel is what is measured of gram with one kernel. A line is nil where it isn't measured.
type ownModel struct {
	kernel, file, predictions string
	train, predict, solve     *line
	objectives                []float64
}

// runOwn trains and predicts once.
func (t *trial) runOwn(ctx context.Context, m *ownModel) error {
	var trained struct {
		SecondsSolve float64 `json:"seconds_solve"`
		Rows         []struct{ Objective float64 }
	}
	r, err := t.Own(ctx, &trained, "train", "-in", t.corpus.train, "-kernel", m.kernel, "-c", number(t.c),
		"-o", m.file)
	if err != nil {
		return err
	}
	m.train.runs = append(m.train.runs, r)
	if m.solve != nil {
		m.solve.runs = append(m.solve.runs, peers.Ran{Seconds: trained.SecondsSolve})
	}
	m.objectives = m.objectives[:0]
	for _, row := range trained.Rows {
		m.objectives = append(m.objectives, row.Objective)
	}
	if m.predict == nil {
		return nil
	}
	var predicted struct{ Accuracy *float64 }
	r, err = t.Own(ctx, &predicted, "predict", "-in", t.corpus.test, "-model", m.file, "-o", m.predictions)
	if err != nil {
		return err
	}
	m.predict.runs = append(m.predict.runs, r)
	if predicted.Accuracy != nil {
		m.predict.accuracy = *predicted.Accuracy
	}
	return nil
}

var labelLine = regexp.MustCompile(`(?m)^gram: label (\d+) stands for class (.*)$`)

// export writes the vectors for LIBSVM and the matrix for scikit-learn.
func (t *trial) export(ctx context.Context) error {
	var said struct{ Documents, Classes, Terms int }
	r, err := t.Own(ctx, &said, "corpus", "-in", t.corpus.train, "-embed", "tf-l1-sqrt",
		"-o", t.File("train.svm"))
	if err != nil {
		return err
	}
	t.read = fmt.Sprintf("%d documents, %d classes, %d terms", said.Documents, said.Classes, said.Terms)
	t.names = map[string]string{}
	for _, found := range labelLine.FindAllStringSubmatch(r.Stderr, -1) {
		t.names[found[1]] = found[2]
	}
	if t.corpus.test != "" {
		if _, err := t.Own(ctx, &said, "corpus", "-in", t.corpus.test, "-like", t.corpus.train,
			"-embed", "tf-l1-sqrt", "-o", t.File("test.svm")); err != nil {
			return err
		}
		t.read += fmt.Sprintf("; %d test documents", said.Documents)
	}
	if t.Python == "" {
		return nil
	}
	var matrix any
	_, err = t.Own(ctx, &matrix, "matrix", "-in", t.corpus.train, "-kernel", t.kernel, "-o",
		t.File("gram.npy"))
	return err
}

// compare compares the Gaussian machines and their predictions with LIBSVM's.
func (t *trial) compare(own *ownModel, objectives []float64, svmPredict *line) error {
	if len(objectives) != len(own.objectives) {
		return fmt.Errorf("svm-train solved %d problems, gram %d", len(objectives), len(own.objectives))
	}
	t.pairs = len(objectives)
	for i, v := range objectives {
		t.worst = math.Max(t.worst, math.Abs(own.objectives[i]-v)/math.Abs(v)) // NaN stays
	}
	if svmPredict == nil {
		return nil
	}
	var lines [3][]string // svm-predict's predictions, ours, and the vectors with their labels
	for i, file := range []string{t.File("libsvm.out"), own.predictions, t.File("test.svm")} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines[i] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	theirs, ours, truth := lines[0], lines[1], lines[2]
	if len(ours) != len(theirs) || len(ours) != len(truth) {
		return fmt.Errorf("%d predictions, svm-predict has %d of %d documents", len(ours), len(theirs), len(truth))
	}
	t.same, t.tests = 0, len(ours)
	right := 0
	for i, label := range theirs {
		if own, _, _ := strings.Cut(truth[i], " "); sameLabel(label, own) {
			right++
		}
		if name, ok := t.names[label]; ok {
			label = name
		}
		if sameLabel(label, ours[i]) {
			t.same++
		}
	}
	svmPredict.accuracy = float64(right) / float64(len(ours))
	return nil
}
