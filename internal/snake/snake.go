// Package snake encodes Go values as JSON with keys in snake case.
package snake

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// Case converts a field name to a key: "MinDF" becomes min_df.
func Case(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// Write converts v by [Convert] and writes it as JSON, indented by two spaces.
func Write(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(Convert(v))
}

// Convert converts a value to maps, slices, strings and numbers for package encoding/json. Exported
// fields have the key of their json tag, or their name in snake case. Fields of embedded structs
// become fields of the outer struct. Durations become seconds, and non-finite numbers null. Types
// with a String method become strings, unless they are strings, have a MarshalJSON method, or are
// structs with a key in a json tag.
func Convert(v any) any { return convert(reflect.ValueOf(v)) }

func convert(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
	}
	if v.CanInterface() {
		switch own := v.Interface().(type) {
		case time.Duration:
			return own.Seconds()
		case json.Marshaler:
			return own
		case fmt.Stringer:
			if v.Kind() != reflect.String && !hasKeyTag(v) {
				return own.String()
			}
		}
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Pointer, reflect.Interface:
		return convert(v.Elem())
	case reflect.Slice, reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = convert(v.Index(i))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[key.String()] = convert(v.MapIndex(key))
		}
		return out
	case reflect.Struct:
		return fieldsByKey(v)
	}
	return v.Interface()
}

func fieldsByKey(v reflect.Value) map[string]any {
	out, own := map[string]any{}, map[string]any{}
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		name, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || field.Type.Kind() == reflect.Func || !field.IsExported() && !field.Anonymous ||
			omit == "omitempty" && isEmpty(value) {
			continue
		}
		if inner, is := embeddedFields(field, value); is {
			maps.Copy(out, inner)
		} else if field.IsExported() {
			if name == "" {
				name = Case(field.Name)
			}
			own[name] = convert(value)
		}
	}
	maps.Copy(out, own)
	return out
}

// hasKeyTag reports whether v is a struct, or points to a struct, with a key in a json tag.
func hasKeyTag(v reflect.Value) bool {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key != "" {
			return true
		}
	}
	return false
}

// embeddedFields returns the fields of an embedded struct without a tag. A nil pointer has no
// fields.
func embeddedFields(field reflect.StructField, v reflect.Value) (map[string]any, bool) {
	if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !field.Anonymous || name != "" {
		return nil, false
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, true
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	return fieldsByKey(v), true
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}
