package repro

// llChoice is what one kernel gives for a task, features and a size, by split: the test errors with the scale and C that a protocol chooses.
type llChoice struct {
	Errors   []float64
	Scale, C float64 // of the paper's protocol, which are the same for all splits
}

// resultsOf returns the results of a kernel by scale, nil where one of them isn't there.
func (c *llCurves) resultsOf(corpus int, features string, kernel int) []*CurveResult {
	var out []*CurveResult
	for _, scale := range c.p.scalesOf(kernel) {
		have := c.results[llStage{corpus, features, kernel, scale}]
		if have == nil {
			return nil
		}
		out = append(out, have)
	}
	return out
}

// best is the paper's protocol: the scale and C with the least mean error on the test sets; of equal ones the first.
func (c *llCurves) best(results []*CurveResult, kernel, task, size, testDocs int) *llChoice {
	var best *llChoice
	least := 0.0
	for i, scale := range c.p.scalesOf(kernel) {
		for j, price := range c.p.c {
			choice := &llChoice{Scale: scale, C: price}
			for s := range c.p.splits {
				choice.Errors = append(choice.Errors, float64(results[i].Test[task][s][size][j])/float64(testDocs))
			}
			if mean := Measure(choice.Errors).Mean; best == nil || mean < least {
				best, least = choice, mean
			}
		}
	}
	return best
}

// byFolds is the honest protocol: for each split the scale and C with the fewest errors in the cross-validation on its training documents. Of equal ones, of
// which small training sets have many, the one with the least C, then with the greatest scale: the smoothest machine.
func (c *llCurves) byFolds(results []*CurveResult, task, size, testDocs int) *llChoice {
	choice := &llChoice{}
	for s := range c.p.splits {
		least, wrong := -1, 0
		for j := range c.p.c {
			for i := len(results) - 1; i >= 0; i-- {
				if n := results[i].Folds[task][s][size][j]; least < 0 || n < least {
					least, wrong = n, results[i].Test[task][s][size][j]
				}
			}
		}
		choice.Errors = append(choice.Errors, float64(wrong)/float64(testDocs))
	}
	return choice
}
