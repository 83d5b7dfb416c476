package instrument

// Scaled is the throughput of a workload with several workers.
type Scaled struct {
	Workload   string  `json:"workload"`
	Workers    int     `json:"workers"`
	SpeedUp    float64 `json:"speed_up"`
	Efficiency float64 `json:"efficiency"` // per worker, relative to a single worker
}

// Scaling compares rows with several workers with rows of one worker.
func (r *Result) Scaling() (list []Scaled) {
	for _, row := range r.Rows {
		one := r.Row(row.Workload, row.Version, 1)
		if one == nil || row.Workers == 1 {
			continue
		}
		up := row.Rate.Median / one.Rate.Median
		list = append(list, Scaled{row.Workload, row.Workers, up, up / float64(row.Workers)})
	}
	return list
}
