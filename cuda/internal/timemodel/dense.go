package timemodel

// The dense terms are the most frequent terms. panelTensor computes their products for all
// documents, whether or not they contain the term. They form groups of DenseStep terms: at least
// two groups, of which the last may be incomplete. DenseMax terms are within the error bound, see
// kernels/tensor.h.
const (
	DenseMin  = 64
	DenseMax  = 1024
	DenseStep = 32
)

// ByModel, as the share of [Costs.Terms], selects the dense terms by the model.
const ByModel = -1

// Terms returns the number of dense terms. If share is ByModel, it minimises the time of
// panelTensor and panelDot; otherwise it is Dense. first is as in [Of].
func (c *Costs) Terms(first []int64, documents int, share int64) int {
	if share != ByModel {
		return Dense(first, documents, share)
	}
	best, most, all := 0, 0., len(first)-1
	for steps := DenseMin / DenseStep; steps <= DenseMax/DenseStep && (steps-1)*DenseStep < all; steps++ {
		terms := min(steps*DenseStep, all)
		spared := c.Value * float64(first[terms]-first[0]) / float64(max(documents, 1))
		if gain := spared - c.DenseRow - c.Dense*float64(steps); gain > most {
			best, most = terms, gain
		}
	}
	if best = used(first, best); best <= DenseMin-DenseStep {
		return 0
	}
	return best
}

// used excludes trailing terms without documents.
func used(first []int64, terms int) int {
	for terms > 0 && first[terms] == first[terms-1] {
		terms--
	}
	return terms
}

// Dense returns the number of most frequent terms that at least one in share documents has, in
// groups of DenseStep; 0 for share 0. first is as in [Of].
func Dense(first []int64, documents int, share int64) int {
	terms, all := 0, len(first)-1
	for terms < min(all, DenseMax) {
		end := min(terms+DenseStep, all)
		values := first[end] - first[terms]
		if share == 0 || values*share < DenseStep*int64(documents) {
			break
		}
		terms = end
	}
	if terms = used(first, terms); terms <= DenseMin-DenseStep {
		return 0
	}
	return terms
}
