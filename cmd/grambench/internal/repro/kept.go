package repro

import "fmt"

// What is read from a file of results is held against what the experiment would have put there, before a table relies on it: lengths, and counts that are possible.

// within reports a number that isn't one of 0 to most.
func within[T int | float64](what string, v, most T) error {
	if !(v >= 0 && v <= most) {
		return fmt.Errorf("%s: %v, expected 0 to %v", what, v, most)
	}
	return nil
}

// length reports a list that hasn't the wanted number of entries.
func length(what string, n, want int) error {
	if n != want {
		return fmt.Errorf("%d %s, expected %d", n, what, want)
	}
	return nil
}

// fits reports counts that aren't those of a plan.
func (r *CurveResult) fits(p *CurvePlan) error {
	for of, counts := range [][][][][]int{r.Test, r.Folds} {
		if err := length("tasks", len(counts), len(p.Tasks)); err != nil {
			return err
		}
		for t, splits := range counts {
			if err := length("splits", len(splits), p.Splits); err != nil {
				return err
			}
			for _, sizes := range splits {
				if err := length("training sets", len(sizes), len(p.Sizes)); err != nil {
					return err
				}
				for k, wrong := range sizes {
					if err := length("values of C", len(wrong), len(p.C)); err != nil {
						return err
					}
					most := p.Sizes[k] // those trained on, by folds
					if of == 0 {
						most = len(p.Tasks[t].Docs) - p.Sizes[k]
					}
					for _, n := range wrong {
						if err := within("wrong decisions", n, most); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// fits reports results that aren't those of a number of values of C and a split.
func (r *modApteResult) fits(prices int, s *modApteSplit) error {
	for part, results := range [][][]wrongly{r.Held, r.Test} {
		if err := length("values of C", len(results), prices); err != nil {
			return err
		}
		stories := len(s.labels[part]) // those held out are training stories
		for _, topics := range results {
			if err := length("topics", len(topics), len(llTop)); err != nil {
				return err
			}
			for _, w := range topics {
				if err := within("stories of a topic", w.Positive, stories); err != nil {
					return err
				}
				if err := within("stories missed", len(w.Missed), w.Positive); err != nil {
					return err
				}
				for _, list := range [][]int{w.Missed, w.Mistaken} {
					for _, story := range list {
						if err := within("number of a story", story, stories-1); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// fits reports a result of another test set.
func (c *choCell) fits(d *choData) error {
	if err := length("documents", c.Documents, d.test.Documents.Rows()); err != nil {
		return err
	}
	if err := within("wrong decisions", c.Wrong, c.Documents); err != nil {
		return err
	}
	return within("support vectors", c.Support, d.train.Documents.Rows())
}

// fitsBits reports a text that isn't made of as many 0 and 1 as there are documents.
func fitsBits(kept string, documents int) error {
	if err := length("documents", len(kept), documents); err != nil {
		return err
	}
	for i, c := range kept {
		if c != '0' && c != '1' {
			return fmt.Errorf("document %d: %q, expected 0 or 1", i+1, c)
		}
	}
	return nil
}
