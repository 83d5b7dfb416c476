package kernel

// Variable is what a kernel is a function of, beside c and both norms.
type Variable int

const (
	OfAll      Variable = iota // c and the norms
	OfProduct                  // the inner product xy(1-c) alone: k(c, x, y) = k(1-⟨x, y⟩, 1, 1)
	OfDistance                 // the distance alone, ‖x-y‖² = (x-y)² + 2xyc: k(c, x, y) = k(‖x-y‖²/2, 1, 1)
)

// VariableOf returns what k is a function of. Of a kernel that isn't OfAll, [Map] takes such a c with norms of 1, also
// beyond 2 and below 0.
func VariableOf(k Kernel) Variable {
	if of, ok := k.(component); ok {
		if v, ok := as[interface{ variable() Variable }](of); ok {
			return v.variable()
		}
	}
	return OfAll
}

func (linear) variable() Variable    { return OfProduct }
func (affine) variable() Variable    { return OfProduct }
func (gaussian) variable() Variable  { return OfDistance }
func (euclidean) variable() Variable { return OfDistance }
