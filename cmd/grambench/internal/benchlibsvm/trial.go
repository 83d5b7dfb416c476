package main

import (
	"context"
	"fmt"
	"math"
	"regexp"
)

// trial is the measurement on one corpus.
type trial struct {
	*bench
	corpus corpus
	read   string // what grambench says of the training documents

	names map[string]string // class by the number that stands for it in vectors; nil where they are the same
	lines []*line

	pairs       int     // of classes
	worst       float64 // greatest relative difference of objectives
	same, tests int     // predictions that are the same, of how many
}

// line is a line of the table.
type line struct {
	what, program, kernel string
	runs                  samples
	accuracy              float64 // NaN where nothing is predicted
	against               *line   // what it is compared with; nil for that itself
}

// trainReport and predictReport are what is used of what grambench prints.
type trainReport struct {
	Corpus struct {
		Documents, Classes, Terms int
	}
	SecondsSolve float64 `json:"seconds_solve"`
	Rows         []struct{ Objective float64 }
}

type predictReport struct {
	Accuracy *float64
	Scored   int `json:"documents_scored"`
}

// line adds a line to the table.
func (t *trial) line(what, program, kernel string, against *line) *line {
	l := &line{what: what, program: program, kernel: kernel, accuracy: math.NaN(), against: against}
	t.lines = append(t.lines, l)
	return l
}

// measure writes what the programs read and runs them in turn.
func (t *trial) measure(ctx context.Context) error {
	fmt.Fprintf(t.stderr, "benchlibsvm: %s: writing vectors\n", t.corpus.name)
	if err := t.export(ctx); err != nil {
		return err
	}
	gaussian := "rbf:gamma=" + number(t.gamma)
	own := []*ownModel{
		{kernel: gaussian + ",embed=tf-l1-sqrt", shown: gaussian, file: t.file("rbf.model"), predictions: t.file("rbf.out")},
		{kernel: t.kernel, shown: t.kernel, file: t.file("sphere.model"), predictions: t.file("sphere.out")},
	}
	var svmTrain, svmPredict, svc *line
	if t.svmTrain != "" {
		svmTrain = t.line("train", "svm-train", gaussian, nil)
	}
	for _, m := range own {
		m.train = t.line("train", "grambench", m.shown, svmTrain)
	}
	if t.corpus.test != "" {
		if t.svmTrain != "" && t.svmPredict != "" {
			svmPredict = t.line("predict", "svm-predict", gaussian, nil)
		}
		for _, m := range own {
			m.predict = t.line("predict", "grambench", m.shown, svmPredict)
		}
	}
	if t.python != "" {
		svc = t.line("solve", "scikit-learn", t.kernel, nil)
	}
	own[1].solve = t.line("solve", "grambench", t.kernel, svc)
	ownRuns := func() error {
		for range t.own {
			for _, m := range own {
				if err := t.runOwn(ctx, m); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := ownRuns(); err != nil {
		return err
	}
	for round := range t.rounds {
		fmt.Fprintf(t.stderr, "benchlibsvm: %s: round %d of %d\n", t.corpus.name, round+1, t.rounds)
		var objectives []float64
		if svmTrain != nil {
			s, all, err := t.svmTrainRun(ctx, t.file("train.svm"), t.file("libsvm.model"))
			if err != nil {
				return err
			}
			svmTrain.runs.add(s)
			objectives = all
		}
		if svmPredict != nil {
			s, _, _, err := t.execute(ctx, t.svmPredict, t.file("test.svm"), t.file("libsvm.model"), t.file("libsvm.out"))
			if err != nil {
				return err
			}
			svmPredict.runs.add(s)
		}
		if svc != nil {
			s, version, err := t.fit(ctx, t.file("gram.npy"), t.file("train.svm"))
			if err != nil {
				return err
			}
			svc.runs.add(s)
			svc.program = version
		}
		if err := ownRuns(); err != nil {
			return err
		}
		if err := t.compare(own[0], objectives, svmPredict); err != nil {
			return err
		}
	}
	return nil
}

// ownModel is what is measured of grambench with one kernel.
type ownModel struct {
	kernel, shown         string
	file, predictions     string
	train, predict, solve *line
	objectives            []float64
}

// runOwn trains and predicts once.
func (t *trial) runOwn(ctx context.Context, m *ownModel) error {
	var trained trainReport
	s, _, err := t.ownRun(ctx, &trained, "train", "-in", t.corpus.train, "-kernel", m.kernel, "-c", number(t.c), "-o", m.file)
	if err != nil {
		return err
	}
	m.train.runs.add(s)
	if m.solve != nil {
		m.solve.runs.add(sample{seconds: trained.SecondsSolve})
	}
	m.objectives = m.objectives[:0]
	for _, row := range trained.Rows {
		m.objectives = append(m.objectives, row.Objective)
	}
	if m.predict == nil {
		return nil
	}
	var predicted predictReport
	s, _, err = t.ownRun(ctx, &predicted, "predict", "-in", t.corpus.test, "-model", m.file, "-o", m.predictions)
	if err != nil {
		return err
	}
	m.predict.runs.add(s)
	if predicted.Accuracy != nil {
		m.predict.accuracy = *predicted.Accuracy
	}
	return nil
}

var labelLine = regexp.MustCompile(`(?m)^grambench: label (\d+) stands for class (.*)$`)

// export writes the vectors for LIBSVM and the matrix for scikit-learn.
func (t *trial) export(ctx context.Context) error {
	var said struct {
		Documents, Classes, Terms int
	}
	_, stderr, err := t.ownRun(ctx, &said, "corpus", "-in", t.corpus.train, "-embed", "tf-l1-sqrt", "-o", t.file("train.svm"))
	if err != nil {
		return err
	}
	t.read = fmt.Sprintf("%d documents, %d classes, %d terms", said.Documents, said.Classes, said.Terms)
	for _, found := range labelLine.FindAllStringSubmatch(stderr, -1) {
		if t.names == nil {
			t.names = map[string]string{}
		}
		t.names[found[1]] = found[2]
	}
	if t.corpus.test != "" {
		if _, _, err := t.ownRun(ctx, &said, "corpus", "-in", t.corpus.test, "-like", t.corpus.train, "-embed", "tf-l1-sqrt", "-o", t.file("test.svm")); err != nil {
			return err
		}
		t.read += fmt.Sprintf("; %d test documents", said.Documents)
	}
	if t.python == "" {
		return nil
	}
	var matrix any
	_, _, err = t.ownRun(ctx, &matrix, "gram", "-in", t.corpus.train, "-kernel", t.kernel, "-o", t.file("gram.npy"))
	return err
}

// compare holds the Gaussian machines and their predictions against LIBSVM's.
func (t *trial) compare(own *ownModel, objectives []float64, svmPredict *line) error {
	if objectives == nil {
		return nil
	}
	if len(objectives) != len(own.objectives) {
		return fmt.Errorf("svm-train solved %d problems, grambench %d", len(objectives), len(own.objectives))
	}
	t.pairs = len(objectives)
	for i, v := range objectives {
		t.worst = math.Max(t.worst, math.Abs(own.objectives[i]-v)/math.Abs(v)) // NaN stays
	}
	if svmPredict == nil {
		return nil
	}
	theirs, err := readLines(t.file("libsvm.out"))
	if err != nil {
		return err
	}
	ours, err := readLines(own.predictions)
	if err != nil {
		return err
	}
	truth, err := readLines(t.file("test.svm"))
	if err != nil {
		return err
	}
	if len(ours) != len(theirs) || len(ours) != len(truth) {
		return fmt.Errorf("%d predictions, svm-predict has %d of %d documents", len(ours), len(theirs), len(truth))
	}
	t.same, t.tests = 0, len(ours)
	right := 0
	for i, label := range theirs {
		if sameLabel(label, firstField(truth[i])) {
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
