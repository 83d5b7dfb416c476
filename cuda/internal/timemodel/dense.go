package timemodel

// Which terms are the dense end, whose products panelTensor takes of all documents, whether they
// have the term or not. It takes ten products of bytes for each term, row and column, of which a
// multiprocessor of an H100 does 4,096 a cycle (1,979·10¹² operations a second, 132, 1.83 GHz) and
// mma.sync reaches some five eighths, and one of an A100 2,048 (624·10¹², 108, 1.41 GHz); panelDot
// takes Costs.Value cycles for 128 columns, but only where the row has the term. So even at the best
// rates a term must be in 11 or 13 % of the documents; the kernel is taken to reach 60 % of them,
// which no one has measured yet: a quarter. Sources: NVIDIA's white papers on both; Luo and others,
// "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024, for
// mma.sync on Hopper.
//
// The kernel reads and writes the result once more, which is made up for by no less than some 64
// terms; and no more than 1,024 are within the bound on its error, see kernels/tensor.h.
const (
	DenseShare = 4 // a term is worth it that one document in so many has
	DenseLeast = 64
	DenseMost  = 1024
	DenseStep  = 32 // terms that panelTensor takes at a time
)

// Dense returns how many of the most frequent terms are worth the dense end where one of so many
// documents in share has them, by groups of DenseStep; 0 for none, also for share 0. first is as in
// [Of].
func Dense(first []int64, documents int, share int64) int {
	terms, all := 0, len(first)-1
	for terms < min(all, DenseMost) {
		end := min(terms+DenseStep, all)
		values := first[end] - first[terms]
		if share == 0 || values*share < DenseStep*int64(documents) {
			break
		}
		terms = end
	}
	for terms > 0 && first[terms] == first[terms-1] { // terms of no document
		terms--
	}
	if terms <= DenseLeast-DenseStep {
		return 0
	}
	return terms
}
