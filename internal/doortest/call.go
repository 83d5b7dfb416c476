package doortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"time"
)

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// arguments returns those of a good call, made anew.
func (r *run) arguments(t tester, d door) []reflect.Value {
	var all []reflect.Value
	given := d.given
	for in := range d.f.Type().Ins() {
		switch {
		case in == contextType:
			all = append(all, valueOf(in, t.Context()))
		case len(given) > 0 && !(d.receiver && len(all) == 0):
			all = append(all, valueOf(in, given[0]))
			given = given[1:]
		default:
			all = append(all, r.value(in))
		}
	}
	return all
}

// valueOf is x as an argument of a type, or what the function x makes.
func valueOf(t reflect.Type, x any) reflect.Value {
	v := reflect.ValueOf(x)
	switch {
	case !v.IsValid():
		return reflect.Zero(t)
	case !v.Type().AssignableTo(t) && v.Kind() == reflect.Func:
		v = v.Call(nil)[0]
	case !v.Type().AssignableTo(t):
		v = v.Convert(t)
	}
	to := reflect.New(t).Elem()
	to.Set(v)
	return to
}

// value is a good value of a type.
func (r *run) value(t reflect.Type) reflect.Value {
	if x, ok := r.good[t]; ok {
		return valueOf(t, x)
	}
	to := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(t.Elem()))
		if _, ok := r.good[t.Elem()]; ok {
			to.Elem().Set(r.value(t.Elem()))
		}
	case reflect.Slice:
		to.Set(reflect.MakeSlice(t, 1, 1))
		if !to.Index(0).CanInt() && !to.Index(0).CanUint() { // integers are often indices
			to.Index(0).Set(r.value(t.Elem()))
		}
	case reflect.Func:
		to.Set(function(t, reflect.Value{}))
	case reflect.String:
		to.SetString("a")
	case reflect.Interface:
		switch {
		case t == errorType:
			to.Set(reflect.ValueOf(errors.New("doortest: failed")))
		case t == reflect.TypeFor[io.Writer]():
			to.Set(reflect.ValueOf(io.Discard))
		}
	case reflect.Bool, reflect.Struct, reflect.Map, reflect.Array, reflect.Chan:
	default:
		to.Set(reflect.ValueOf(1).Convert(t))
	}
	return to
}

// function makes a function that returns zero values, but for the last result if that is given.
func function(t reflect.Type, last reflect.Value) reflect.Value {
	return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
		var results []reflect.Value
		for out := range t.Outs() {
			results = append(results, reflect.Zero(out))
		}
		if last.IsValid() {
			results[len(results)-1] = last
		}
		return results
	})
}

// call makes a call and says how it went.
func (r *run) call(t tester, d door, what string, arguments []reflect.Value) (outcome, detail string) {
	var copies []reflect.Value
	for _, a := range arguments {
		copies = append(copies, r.clone(a))
	}
	defer r.memory.free()
	watch := time.AfterFunc(*patience, func() { panic("doortest: " + what + " doesn't return") })
	defer watch.Stop()
	defer func() {
		x := recover()
		if x == nil {
			return
		}
		_, broken := x.(runtime.Error)
		outcome, detail = crash, fmt.Sprint(x, "\n", frames())
		switch {
		case x == own || !broken && strings.Contains(d.doc, "panic"):
			outcome = refused
		case !broken && strings.Contains(detail, ": "):
			outcome = "panic" // in the door's own words, though its comment doesn't say so
		}
	}()
	var results []reflect.Value
	if d.f.Type().IsVariadic() {
		results = d.f.CallSlice(copies)
	} else {
		results = d.f.Call(copies)
	}
	if n := len(results); n > 0 && !strings.Contains(what, ".Unwrap") &&
		results[n-1].Type() == errorType && !results[n-1].IsNil() {
		err := results[n-1].Interface().(error)
		if err.Error() == "" {
			t.Errorf("%s: an error that says nothing", what)
		}
		if strings.HasSuffix(what, " ended") && !errors.Is(err, context.Canceled) {
			return "another error", err.Error()
		}
		return refused, err.Error()
	}
	outcome = taken
	for _, v := range results {
		if !finite(v, 4) {
			outcome = notFinite
		}
		if x, ok := v.Interface().(interface{ Validate() error }); ok && !nothing(v) {
			if x.Validate() != nil {
				outcome = "invalid"
			}
		}
		if x, ok := v.Interface().(io.Closer); ok && !nothing(v) && !d.receiver {
			x.Close()
		}
	}
	return outcome, ""
}

func nothing(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// frames are the places where a panic came from, without those of this package.
func frames() string {
	var pcs [40]uintptr
	all := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var places []string
	for {
		f, more := all.Next()
		if !more || strings.Contains(f.Function, "doortest") || len(places) == 6 {
			return strings.Join(places, "\n")
		}
		if !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "reflect.") {
			places = append(places, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
	}
}

// finite says whether a result has neither NaN nor infinities.
func finite(v reflect.Value, depth int) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0)
	case reflect.Pointer, reflect.Interface:
		return depth == 0 || v.IsNil() || finite(v.Elem(), depth-1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if depth > 0 && !finite(v.Index(i), depth-1) {
				return false
			}
		}
	case reflect.Struct:
		for f, x := range v.Fields() {
			if depth > 0 && f.IsExported() && !finite(x, depth-1) {
				return false
			}
		}
	}
	return true
}

// open says whether a type is a struct without unexported fields, which can be copied whole.
func open(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if !f.IsExported() {
			return false
		}
	}
	return true
}

// clone copies a value that a call may change, its numbers to guarded memory.
func (r *run) clone(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		if k := v.Type().Elem().Kind(); reflect.Int <= k && k <= reflect.Float64 && v.Len() > 0 {
			bytes := r.memory.bytes(v.Len() * int(v.Type().Elem().Size()))
			to.Set(reflect.SliceAt(v.Type().Elem(), reflect.ValueOf(bytes).UnsafePointer(), v.Len()).Convert(v.Type()))
			reflect.Copy(to, v)
			break
		}
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(r.clone(v.Index(i)))
		}
	case reflect.Pointer:
		if !v.IsNil() && open(v.Type().Elem()) {
			to.Set(reflect.New(v.Type().Elem()))
			to.Elem().Set(r.clone(v.Elem()))
		}
	case reflect.Struct:
		if open(v.Type()) {
			for i := range v.NumField() {
				to.Field(i).Set(r.clone(v.Field(i)))
			}
		}
	}
	return to
}
