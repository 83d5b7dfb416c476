package timemodel

// The dense terms are the most frequent terms. The kernel panelTensor multiplies the values of
// these terms in all documents, including zeros. It multiplies DenseStep terms per step, in at
// least two steps. The last step may have fewer terms. The error bound in kernels/tensor.h holds
// for up to DenseMax terms.
const (
	DenseMin  = 64
	DenseMax  = 1024
	DenseStep = 32
)

// ByModel, passed as share to [Costs.DenseTerms], selects dense terms by predicted time.
const ByModel = -1

// DenseTerms returns the number of dense terms. If share is ByModel, this number minimises the
// total predicted time of panelTensor and panelDot. Otherwise, the number is from
// [DenseTermsByShare]. For first, see [CountOperations].
func (c *Costs) DenseTerms(first []int64, documents int, share int64) int {
	if share != ByModel {
		return DenseTermsByShare(first, documents, share)
	}
	best, most, all := 0, 0., len(first)-1
	for steps := DenseMin / DenseStep; steps <= DenseMax/DenseStep && (steps-1)*DenseStep < all; steps++ {
		terms := min(steps*DenseStep, all)
		spared := c.Value * float64(first[terms]-first[0]) / float64(max(documents, 1))
		if gain := spared - c.DenseRow - c.Dense*float64(steps); gain > most {
			best, most = terms, gain
		}
	}
	if best = trimEmpty(first, best); best <= DenseMin-DenseStep {
		return 0
	}
	return best
}

// trimEmpty returns terms minus the number of trailing terms that occur in no document.
func trimEmpty(first []int64, terms int) int {
	for terms > 0 && first[terms] == first[terms-1] {
		terms--
	}
	return terms
}

// DenseTermsByShare returns the number of dense terms, at most DenseMax. It adds terms by
// descending frequency, DenseStep at a time, while the next DenseStep terms occur, on average, in
// at least 1/share of the documents. It returns 0 if share is 0, or if there would be fewer than
// two steps. For first, see [CountOperations].
func DenseTermsByShare(first []int64, documents int, share int64) int {
	terms, all := 0, len(first)-1
	for terms < min(all, DenseMax) {
		end := min(terms+DenseStep, all)
		values := first[end] - first[terms]
		if share == 0 || values*share < DenseStep*int64(documents) {
			break
		}
		terms = end
	}
	if terms = trimEmpty(first, terms); terms <= DenseMin-DenseStep {
		return 0
	}
	return terms
}
