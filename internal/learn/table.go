package learn

// All lists the learners in the order of the help text.
var All = append([]*Learner{
	logisticLearner, linearLearner, neighboursLearner, landmarkLearner,
}, machineLearners...)

// Register adds learners to [All]. Call it before any other use of learners.
func Register(l ...*Learner) { All = append(All, l...) }
