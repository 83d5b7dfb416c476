package learn

// Learners lists the learners in the order of the help text.
var Learners = append([]*Learner{
	logisticLearner, linearLearner, knnLearner, landmarkLearner,
}, svmLearners...)

// Register adds learners to [Learners]. Call it before any other use of learners.
func Register(l ...*Learner) { Learners = append(Learners, l...) }
