package engine

import (
	"context"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/sparse"
)

// What packages kernel and normal have, under the names that programs have always known.
type (
	// Kernel is a function of two documents, see [kernel.Kernel].
	Kernel = kernel.Kernel
	// Custom describes a kernel of one's own, see [kernel.Custom].
	Custom = kernel.Custom
	// Properties says what is known of a kernel, see [kernel.Properties].
	Properties = kernel.Properties
	// Definiteness says what is known of a kernel's matrices, see [kernel.Definiteness].
	Definiteness = kernel.Definiteness
	// Info describes a family of kernels, see [kernel.Info].
	Info = kernel.Info
	// Param describes a parameter of a family, see [kernel.Param].
	Param = kernel.Param
	// SpecError says what is wrong with a specification, see [kernel.SpecError].
	SpecError = kernel.SpecError
	// RoughError says that a kernel has no derivative, see [kernel.RoughError].
	RoughError = kernel.RoughError
	// Hyperbolic says which kernel of normal distributions is meant, see [kernel.Hyperbolic].
	Hyperbolic = kernel.Hyperbolic

	// Normals are normal distributions, see [normal.Distributions].
	Normals = normal.Distributions
	// SpreadError says that a set of points has no spread, see [normal.SpreadError].
	SpreadError = normal.SpreadError
	// DeviationError says that a vector is no distribution, see [normal.DeviationError].
	DeviationError = normal.DeviationError
)

// What is known of a kernel's matrices, see [Definiteness].
const (
	NotProven             = kernel.NotProven
	ConditionallyPositive = kernel.ConditionallyPositive
	Positive              = kernel.Positive
)

// ToleranceReason says in words what [Tolerance] is made of.
const ToleranceReason = kernel.ToleranceReason

// ParseKernel reads a specification, see [kernel.Parse].
func ParseKernel(spec string) (Kernel, error) { return kernel.Parse(spec) }

// ParseKernelIn is ParseKernel with another default embedding, see [kernel.ParseIn].
func ParseKernelIn(spec string, e sparse.Embedding) (Kernel, error) { return kernel.ParseIn(spec, e) }

// MustParseKernel is ParseKernel for specifications that are known to be right, see
// [kernel.MustParse].
func MustParseKernel(spec string) Kernel { return kernel.MustParse(spec) }

// NewKernel returns a kernel of one's own, see [kernel.New].
func NewKernel(c Custom) (Kernel, error) { return kernel.New(c) }

// SameKernel reports whether two kernels mean the same, see [kernel.Equal].
func SameKernel(a, b Kernel) bool { return kernel.Equal(a, b) }

// Resolve fills in what depends on the documents, see [kernel.Resolve].
func Resolve(k Kernel, terms int) Kernel { return kernel.Resolve(k, terms) }

// Apply maps a tile of c to kernel values, see [kernel.Apply].
func Apply(k Kernel, table *asm.Kernels, dst, c, x, y []float32) error {
	return kernel.Apply(k, table, dst, c, x, y)
}

// PropertiesOf returns what is known of a kernel, see [kernel.PropertiesOf].
func PropertiesOf(k Kernel) Properties { return kernel.PropertiesOf(k) }

// Tolerance returns how far values may be from the reference, see [kernel.Tolerance].
func Tolerance(k Kernel, c, x, y float64) float64 { return kernel.Tolerance(k, c, x, y) }

// Within reports whether a value is within Tolerance of another, see [kernel.Within].
func Within(k Kernel, got, want, c, x, y float64) bool { return kernel.Within(k, got, want, c, x, y) }

// ProgramOf translates a kernel for a device, see [kernel.ProgramOf].
func ProgramOf(k Kernel) *device.Program { return kernel.ProgramOf(k) }

// Catalogue describes the kernels that ParseKernel knows, see [kernel.Catalogue].
func Catalogue() []Info { return kernel.Catalogue() }

// Names returns the names of these kernels, see [kernel.Names].
func Names() []string { return kernel.Names() }

// SetKernels describes the kernels of sets of points, see [kernel.SetKernels].
func SetKernels() []Info { return kernel.SetKernels() }

// IsHyperbolic reports whether a specification is for ParseHyperbolic, see [kernel.IsHyperbolic].
func IsHyperbolic(spec string) bool { return kernel.IsHyperbolic(spec) }

// ParseHyperbolic reads the specification of a kernel of distributions, see
// [kernel.ParseHyperbolic].
func ParseHyperbolic(spec string) (Hyperbolic, error) { return kernel.ParseHyperbolic(spec) }

// HyperbolicOf returns what [Hyperbolic].Kernel was made of, see [kernel.HyperbolicOf].
func HyperbolicOf(k Kernel) (Hyperbolic, bool) { return kernel.HyperbolicOf(k) }

// Precomputed returns the kernel of a matrix that was computed elsewhere, see [kernel.Precomputed].
func Precomputed() Kernel { return kernel.Precomputed() }

// IsPrecomputed reports whether k is Precomputed, see [kernel.IsPrecomputed].
func IsPrecomputed(k Kernel) bool { return kernel.IsPrecomputed(k) }

// FitNormals estimates the distributions of sets of points, see [normal.Fit].
func FitNormals(ctx context.Context, points *sparse.CSR, of []int32, sets int) (*Normals, error) {
	return normal.Fit(ctx, points, of, sets)
}

// FitNormalsIn is FitNormals with given coordinates, see [normal.FitIn].
func FitNormalsIn(ctx context.Context, points *sparse.CSR, of []int32, sets int, columns []uint32) (*Normals, error) {
	return normal.FitIn(ctx, points, of, sets, columns)
}

// NormalsOf reads the distributions that [Normals].Vectors wrote, see [normal.Of].
func NormalsOf(x *sparse.Embedded) (*Normals, error) { return normal.Of(x) }
