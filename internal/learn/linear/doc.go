// Package linear trains linear machines on documents by dual coordinate descent: what LIBLINEAR and
// scikit-learn's LinearSVC compute.
//
// # The problem
//
// A machine tells a class from all others by f(x) = ⟨w,x⟩ + b, with b = B·v for a term that every
// document has with the value B (Settings.Intercept), so that b is regularised, too. It minimises
//
//	P = (‖w‖² + v²)/2 + Σᵢ Cᵢ ℓ(yᵢf(xᵢ)), yᵢ = ±1,
//
// where Cᵢ is C times the weights of the document (Corpus.Weights) and of its class (Settings.Weights),
// with ℓ(m) = max(0, 1-m)², the squared hinge (L2 loss), or max(0, 1-m), the hinge (L1 loss). Its dual
// maximises, over α,
//
//	D = Σᵢ αᵢ - (‖w‖² + v²)/2 - Σᵢ αᵢ²/4Cᵢ,  0 ≤ αᵢ         for the squared hinge,
//	D = Σᵢ αᵢ - (‖w‖² + v²)/2,               0 ≤ αᵢ ≤ Cᵢ    for the hinge,
//
// where w = Σᵢ αᵢyᵢxᵢ and v = Σᵢ αᵢyᵢB. P ≥ D always, with equality at the optimum.
//
// # How it is computed
//
// One α at a time goes to its optimum, documents in random order; a step takes O(values of the
// document), since w is kept (dual.go). Documents whose α stays at a bound are left out until the rest
// is settled. Training ends when P - D, computed anew from α alone, is at most Settings.Tolerance of P:
// a bound on what is left to gain, and 2(P - D) one on the squared distance from the optimal (w, v).
//
// Classes are trained side by side, for ascending C each from the one before. A machine's order of
// documents depends on seed and class alone, so that results have the same bits from any number of
// workers.
//
// Source: Hsieh, Chang, Lin, Keerthi and Sundararajan, A Dual Coordinate Descent Method for
// Large-scale Linear SVM, ICML 2008. There, a tolerance bounds the range of projected gradients; here,
// it is the next finer one until the gap is small enough.
package linear
