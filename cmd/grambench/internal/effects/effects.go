// Package effects has the tables that explain a prediction: of terms, and of support vectors, by their effect. The
// commands explain, evaluate and serve show them.
package effects

import (
	"fmt"

	"github.com/gramengine/gram/internal/page"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/learn"
)

// Terms is the table of terms by their effect.
func Terms(x *learn.DocumentExplanation) *report.Table {
	t := report.NewTable("term", ">count", ">effect", "speaks for")
	for _, e := range x.Terms {
		t.Add(e.Term, fmt.Sprintf("%g", e.Count), fmt.Sprintf("%+.4g", e.Effect), x.Side(e.Effect))
	}
	return t
}

// Support is the table of support vectors by their share of the decision value, with the beginnings of the texts
// of the training documents where these are known.
func Support(x *learn.DocumentExplanation, texts []string) *report.Table {
	titles := []string{">document", "class", ">kernel", ">share", "speaks for", "text"}
	if texts == nil {
		titles = titles[:5]
	}
	t := report.NewTable(titles...)
	for _, s := range x.Support {
		text := ""
		if i := s.Document - 1; i >= 0 && i < int64(len(texts)) {
			text = page.Excerpt(texts[i], 120)
		}
		cells := []string{fmt.Sprint(s.Document), s.Class, fmt.Sprintf("%.4g", s.Kernel), fmt.Sprintf("%+.4g", s.Effect),
			x.Side(s.Effect), text}
		t.Add(cells[:len(titles)]...)
	}
	return t
}
