package kernel

import "testing"

// A kernel that is said to fall with c does, up to the last bits of its values.
func TestFalling(t *testing.T) {
	specs := []string{
		"power(ngd,3)", "power(bhattacharyya,3)", "power(bhattacharyya,2)", "power(hellinger,0.5)", "exp(ngd-log)",
		"product(hellinger,ngd-exp)", "product(bhattacharyya,ngd)", "2*hellinger+bhattacharyya", "normalise(linear)",
		"normalise(arccos:n=1)", "centred(hellinger)", "compose(hellinger,ngd-exp)", "compose(c,c)", "arccos:n=0",
		"polynomial:r=1,degree=2,gamma=1", "polynomial:r=-1,degree=3,gamma=1", "sigmoid:r=-1,gamma=2",
	}
	for _, f := range Catalogue() {
		specs = append(specs, f.Examples...)
	}
	falling := map[string]bool{}
	for _, spec := range specs {
		k, err := Parse(spec)
		if err != nil {
			continue
		}
		k = Resolve(k, 10)
		if !PropertiesOf(k).Falling {
			continue
		}
		falling[spec] = true
		for _, norms := range [][2]float64{{1, 1}, {0.5, 3}, {7, 2}} {
			last := k.Eval(0, norms[0], norms[1])
			for i := 1; i <= 4000; i++ {
				c := float64(i) / 2000
				v := k.Eval(c, norms[0], norms[1])
				if !(v-last <= 1e-12*max(1, v, -v)) {
					t.Fatalf("%s rises from %v to %v at c = %v, norms %v", spec, last, v, c, norms)
				}
				last = v
			}
		}
		if got := FallsWithC(k); got != (falling[spec] && !UsesNorms(k)) {
			t.Errorf("%s: FallsWithC is %v", spec, got)
		}
	}
	for spec, want := range map[string]bool{
		"linear": true, "hellinger:gamma=1": true, "diffusion:t=0.5": true, "c": false, "product(bhattacharyya,ngd)": false,
		"power(bhattacharyya,2)": false, "power(ngd,3)": true, "normalise(linear)": true, "rbf": true,
		"polynomial:r=1,degree=2,gamma=1": false, "2*hellinger+bhattacharyya": true,
	} {
		if falling[spec] != want {
			t.Errorf("%s falls with c: %v, expected %v", spec, falling[spec], want)
		}
	}
}
