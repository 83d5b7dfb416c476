package learn

// All are the learners in the order of the help.
var All = append([]*Learner{
	euclideanLearner, sphericalLearner, linearLearner, neighboursLearner, landmarkLearner, metricLearner,
	multilayerLearner,
}, machineLearners...)
