package learn

// All are the learners in the order of the help.
var All = append([]*Learner{
	logisticLearner, linearLearner, neighboursLearner, landmarkLearner,
}, machineLearners...)

// Register adds learners to [All]. A program calls it before it does anything else with learners.
func Register(l ...*Learner) { All = append(All, l...) }
