package cache

import "testing"

func TestShareOut(t *testing.T) {
	const panel = 4
	for _, workers := range []int{1, 2, 5} {
		for _, rows := range []int{1, 3, 4, 9} {
			for _, blocks := range []int{1, 2, 7} {
				var mine []missingTile
				for b := range blocks {
					for r := range rows {
						if b != 4 || r != 1 { // one tile is already stored
							mine = append(mine, missingTile{r: r, span: pieceRange{block: b}})
						}
					}
				}
				tasks := divideTasks(mine, panel, workers)
				seen := map[[2]int]int{}
				groups := 0
				for _, task := range tasks {
					for g, group := range task {
						groups++
						if len(group) == 0 || len(group) > panel {
							t.Errorf("a group of %d tiles", len(group))
						}
						for i, m := range group {
							seen[[2]int{m.r, m.span.block}]++
							if m.r != task[0][i].r || len(group) != len(task[0]) ||
								m.span.block != task[0][0].span.block+g {
								t.Errorf("tiles %+v after %+v in one task", group, task[0])
							}
						}
					}
				}
				for key, times := range seen {
					if times != 1 {
						t.Errorf("tile %v is computed %d times", key, times)
					}
				}
				if len(seen) != len(mine) {
					t.Errorf("%d of %d tiles are computed", len(seen), len(mine))
				}
				if workers == 1 && blocks == 2 && len(tasks) != (rows+panel-1)/panel {
					t.Errorf("%d tasks of one worker for %d rows, expected each panel to be loaded once", len(tasks),
						rows)
				}
				if len(tasks) < min(workers, groups) {
					t.Errorf("%d tasks of %d groups for %d workers", len(tasks), groups, workers)
				}
			}
		}
	}
}
