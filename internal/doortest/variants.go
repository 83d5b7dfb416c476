package doortest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// deepest is how many fields and elements deep an argument is varied.
const deepest = 6

// variants yields values that differ from v in one part: which, by its path, and how.
func (r *run) variants(v reflect.Value, at string, yield func(at, what string, v reflect.Value)) {
	t := v.Type()
	set := func(what string, x any) {
		to := reflect.New(t).Elem()
		to.Set(reflect.ValueOf(x).Convert(t))
		if !t.Comparable() || !v.Equal(to) {
			yield(at, what, to)
		}
	}
	for i, x := range r.Bad {
		if of, x := typeOf(x); of == t {
			yield(at, fmt.Sprint("bad ", i), valueOf(t, x))
		}
	}
	if t.Kind() == reflect.Struct && slices.ContainsFunc(r.Whole, func(x any) bool { return reflect.TypeOf(x) == t }) {
		return
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		set("-1", -1)
		set("0", 0)
		set("min", math.MinInt64>>(64-t.Bits()))
		set("max", math.MaxInt64>>(64-t.Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		set("0", 0)
		set("max", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Float32, reflect.Float64:
		set("NaN", math.NaN())
		set("Inf", math.Inf(1))
		set("-Inf", math.Inf(-1))
		set("-1", -1)
		set("0", 0)
	case reflect.String:
		set("empty", "")
		set("odd", "\xff?")
	case reflect.Bool:
		set("other", !v.Bool())
	case reflect.Func:
		r.functions(v, at, yield)
	case reflect.Pointer:
		r.pointers(v, at, yield)
	case reflect.Interface:
		if t == contextType {
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			set("ended", ended)
			yield(at, "nil", reflect.Zero(t))
		} else if !v.IsNil() {
			yield(at, "nil", reflect.Zero(t))
			r.variants(v.Elem(), at, func(at, what string, part reflect.Value) {
				if what != "nil" && what != "zero" {
					to := reflect.New(t).Elem()
					to.Set(part)
					yield(at, what, to)
				}
			})
		}
	case reflect.Slice:
		r.slices(v, at, yield)
	case reflect.Map:
		for key, x := range v.Seq2() {
			yield(at, "nil", reflect.Zero(t))
			r.variants(x, at+"["+fmt.Sprint(key)+"]", func(at, what string, part reflect.Value) {
				to := reflect.MakeMap(t)
				to.SetMapIndex(key, part)
				yield(at, what, to)
			})
			break
		}
		one := reflect.MakeMap(t)
		one.SetMapIndex(r.value(t.Key()), r.value(t.Elem()))
		yield(at, "one", one)
	case reflect.Struct, reflect.Array:
		r.fields(v, at, yield)
	}
}

func (r *run) functions(v reflect.Value, at string, yield func(at, what string, v reflect.Value)) {
	t := v.Type()
	if v.IsNil() {
		yield(at, "function", function(t, reflect.Value{}))
	} else {
		yield(at, "nil", reflect.Zero(t))
	}
	what := "panics"
	if t.NumOut() == 0 {
		what = reporting
	}
	yield(at, what, reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value { panic(own) }))
	if n := t.NumOut(); n > 0 && t.Out(n-1) == errorType {
		yield(at, "fails", function(t, reflect.ValueOf(errors.New("doortest: failed")).Convert(errorType)))
	}
}

func (r *run) pointers(v reflect.Value, at string, yield func(at, what string, v reflect.Value)) {
	if v.IsNil() {
		return
	}
	t := v.Type()
	yield(at, "nil", reflect.Zero(t))
	if !v.Elem().IsZero() {
		yield(at, "zero", reflect.New(t.Elem()))
	}
	r.variants(v.Elem(), at, func(at, what string, part reflect.Value) {
		to := reflect.New(t.Elem())
		to.Elem().Set(part)
		yield(at, what, to.Convert(t))
	})
}

func (r *run) slices(v reflect.Value, at string, yield func(at, what string, v reflect.Value)) {
	t, n := v.Type(), v.Len()
	if n == 0 {
		if t.Elem().Kind() != reflect.Uint8 {
			yield(at, "one", reflect.Append(v, r.value(t.Elem())))
		}
		return
	}
	yield(at, "nil", reflect.Zero(t))
	if n > 1 {
		yield(at, "short", v.Slice(0, n-1))
	}
	yield(at, "long", reflect.Append(v.Slice3(0, n, n), v.Index(n-1)))
	if strings.Count(at, ".")+strings.Count(at, "[") >= deepest {
		return
	}
	for _, i := range []int{0, n - 1} {
		r.variants(v.Index(i), fmt.Sprintf("%s[%d]", at, i), func(at, what string, part reflect.Value) {
			to := reflect.MakeSlice(t, n, n)
			reflect.Copy(to, v)
			to.Index(i).Set(part)
			yield(at, what, to)
		})
		if n == 1 {
			break
		}
	}
}

func (r *run) fields(v reflect.Value, at string, yield func(at, what string, v reflect.Value)) {
	if strings.Count(at, ".")+strings.Count(at, "[") >= deepest {
		return
	}
	part := func(at string, of func(v reflect.Value) reflect.Value) {
		r.variants(of(v), at, func(at, what string, part reflect.Value) {
			to := reflect.New(v.Type()).Elem()
			to.Set(v)
			of(to).Set(part)
			yield(at, what, to)
		})
	}
	if v.Kind() == reflect.Array {
		if v.Len() > 0 {
			part(at+"[0]", func(v reflect.Value) reflect.Value { return v.Index(0) })
		}
		return
	}
	for f := range v.Type().Fields() {
		if f.IsExported() {
			part(at+"."+f.Name, func(v reflect.Value) reflect.Value { return v.FieldByIndex(f.Index) })
		}
	}
}
