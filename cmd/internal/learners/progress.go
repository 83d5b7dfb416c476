package learners

import (
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/report"
)

func trainingProgress(p *cli.Progress, details func(svm.Progress) []string) func(svm.Progress) {
	return func(s svm.Progress) { p.ShowPartial(s.Stage, s.Done, s.Total, s.PartialWork, details(s)) }
}

// progressDetails formats the solver's progress, the most important part first.
func progressDetails(s svm.Progress) []string {
	var parts []string
	at := s.Solver
	if at.Documents > 0 {
		parts = append(parts, fmt.Sprintf("gap %.2g", at.Gap))
	}
	if at.Iterations > 0 {
		parts = append(parts, report.FormatRate(float64(at.Iterations))+" steps")
	}
	if at.Documents > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s active", report.FormatCount(at.ActiveDocuments),
			report.FormatCount(at.Documents)),
			fmt.Sprintf("objective %.6g", at.Objective))
	}
	if !math.IsNaN(s.HitRate) {
		parts = append(parts, fmt.Sprintf("%.0f%% of rows at hand", 100*s.HitRate))
	}
	return parts
}

// remainingTime estimates the remaining time of a stage. Before 3% of the stage is done, it returns
// nil, because the time of the first items includes the preparation for all items.
func remainingTime(begin time.Time, s svm.Progress) []string {
	const says = 0.03
	if s.Done <= 0 || float64(s.Done) < says*float64(s.Total) || s.Total <= s.Done {
		return nil
	}
	rest := float64(time.Since(begin)) * float64(s.Total-s.Done) / float64(s.Done)
	return []string{report.FormatWait(time.Duration(rest)) + " left"}
}
