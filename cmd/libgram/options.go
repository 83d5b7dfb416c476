//go:build cgo

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/snake"
)

// parsers holds the parsers of option types that JSON encodes as strings.
var parsers = map[reflect.Type]func(string) (any, error){
	reflect.TypeFor[corpus.Tokenizer]():   func(s string) (any, error) { return parseTokenizer(s) },
	reflect.TypeFor[corpus.TermOptions](): func(s string) (any, error) { return corpus.ParseTermOptions(s) },
}

// decode decodes a JSON object of options into a struct. Keys are field names in snake case,
// including the fields of embedded structs. A null value leaves an option unset. Fields without a
// JSON form, such as functions, have no key.
//
// It fails if a key is unknown or repeated, if a value has the wrong type, or if text is neither
// blank nor a JSON object. Errors name the key, what was found and what is allowed.
func decode(text []byte, into any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	known := map[string]reflect.Value{}
	var names []string
	eachField(reflect.ValueOf(into).Elem(), func(name string, field reflect.Value) {
		known[name], names = field, append(names, name)
	})
	values, err := members(text)
	if err != nil {
		return fmt.Errorf("gram: options: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		field, ok := known[key]
		if !ok {
			slices.Sort(names)
			return fmt.Errorf("gram: unknown option %q; valid options are %s", key, strings.Join(names, ", "))
		}
		if value := values[key]; string(value) != "null" {
			if err := setOption(field, value); err != nil {
				return fmt.Errorf("gram: option %q: %w", key, err)
			}
		}
	}
	return nil
}

// members returns the values of a JSON object by key.
func members(text []byte) (values map[string]json.RawMessage, err error) {
	if text = bytes.TrimSpace(text); text[0] != '{' {
		return nil, fmt.Errorf("must be a JSON object, got %s", truncateValue(text))
	}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("must be a JSON object: %w", err)
	}
	seen, d := map[json.Token]bool{}, json.NewDecoder(bytes.NewReader(text)) // can't fail, as text is a valid object
	for _, _ = d.Token(); d.More(); {
		key, _ := d.Token()
		if seen[key] {
			return nil, fmt.Errorf("key %q occurs twice", key)
		}
		seen[key] = true
		_ = d.Decode(new(json.RawMessage))
	}
	return values, nil
}

// eachField calls visit for each field that is an option, including fields of embedded structs.
func eachField(of reflect.Value, visit func(name string, field reflect.Value)) {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		switch {
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			eachField(of.Field(i), visit)
		case field.IsExported() && field.Name != "DocumentWeights" && describeType(field.Type) != "":
			visit(snake.Case(field.Name), of.Field(i))
		}
	}
}

// describeType describes the JSON values for an option of type t. It returns "" if t has no JSON
// form.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Uint64:
		return "a non-negative integer"
	case reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.Slice, reflect.Map:
		each := describeType(t.Elem())
		if each != "" && t.Kind() == reflect.Slice {
			return "an array, each element " + each
		} else if each != "" {
			return "an object, each value " + each
		}
	}
	if parsers[t] != nil {
		return "a string"
	}
	return ""
}

func setOption(field reflect.Value, value json.RawMessage) error {
	t := field.Type()
	if t.Kind() == reflect.Pointer {
		field.Set(reflect.New(t.Elem()))
		return setOption(field.Elem(), value)
	}
	parse, to := parsers[t], field.Addr().Interface()
	var text string
	if parse != nil {
		to = &text
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("must be %s, got %s", describeType(t), truncateValue(value))
	}
	if parse == nil {
		return nil
	}
	parsed, err := parse(text)
	if err == nil {
		field.Set(reflect.ValueOf(parsed))
	}
	return err
}

func truncateValue(value []byte) string {
	const most = 60
	if short := truncate(string(bytes.TrimSpace(value)), most); len(short) < len(value) {
		return short + "…"
	}
	return string(value)
}

// optionKeys maps field names in messages of package gram to option keys.
var optionKeys = func() map[string]string {
	out := map[string]string{"DocumentWeights": "weights"}
	for _, options := range []any{new(gram.ReadOptions), new(gram.ValidateOptions), new(gram.SearchOptions),
		new(gram.NeighbourOptions), new(gram.DuplicateOptions), new(gram.IndexOptions), new(gram.PCAOptions),
		new(gram.IndexQuery)} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(options).Elem()) {
			if len(field.Name) > 1 && field.IsExported() && !field.Anonymous {
				out[field.Name] = cmp.Or(out[field.Name], snake.Case(field.Name))
			}
		}
	}
	return out
}()

// fieldNamePattern matches capitalised words, which may be field names, except in paths.
var fieldNamePattern = regexp.MustCompile(`(^|[ (])([A-Z][A-Za-z]+)($|[ ,:;)])`)

// withKeys replaces field names in a message with option keys, except in quoted text.
func withKeys(message string) string {
	parts := strings.Split(message, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = fieldNamePattern.ReplaceAllStringFunc(parts[i], func(word string) string {
			name := strings.Trim(word, " (,:;)")
			return strings.Replace(word, name, cmp.Or(optionKeys[name], name), 1)
		})
	}
	return strings.Join(parts, `"`)
}

// parseTokenizer parses a tokenizer in full notation, such as "word:ngrams=1..2", or in short
// notation, such as "words:1..2".
func parseTokenizer(s string) (corpus.Tokenizer, error) {
	t, err := corpus.ParseTermOptions(s)
	if err == nil && t.MinDF != 0 {
		err = fmt.Errorf("%q must not contain min-df", s)
	}
	return t.Tokenizer, err
}

// nonzeroOptions returns the nonzero options of a struct, indexed by option key.
func nonzeroOptions(options any) map[string]any {
	out := map[string]any{}
	eachField(reflect.ValueOf(options), func(name string, field reflect.Value) {
		if !field.IsZero() {
			out[name] = snake.Convert(field.Interface())
		}
	})
	return out
}

// encode returns about as a JSON object with keys in snake case, and adds the key "kind" with the
// value kind. Infinity and NaN become null.
func encode(about any, kind string) ([]byte, error) {
	out, _ := snake.Convert(about).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	out["kind"] = kind
	return json.Marshal(out)
}
