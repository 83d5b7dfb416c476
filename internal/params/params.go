// Package params sets, checks and describes the parameters of learners. Parameters are struct
// fields with tags:
//
//	C     float64 `param:"c" default:"1" above:"0" help:"regularization parameter"`
//	Count int     `param:"m" default:"4096" min:"1" auto:"-1" help:"landmarks"`
//
// The zero value of a field stands for the default. The tags min and max are inclusive bounds of a
// number, above and below are exclusive bounds. Numbers must be finite unless max is +Inf. The word
// auto is parsed as the number in the auto tag. The wants tag describes the allowed values in
// errors, if the bounds aren't sufficient. A named integer type with a String method is an
// enumeration from min (default 0) to max. Types with UnmarshalText and String use these methods. A
// map is set one entry KEY=NUMBER at a time. Fields without a param tag aren't parameters.
// Parameters of embedded structs are included.
package params

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

type field struct {
	name      string
	fieldName string // name of the struct field
	tag       reflect.StructTag
	value     reflect.Value
}

// Hider is implemented by structs that hide some parameters of their embedded structs. HiddenNames
// returns the names of these parameters.
type Hider interface{ HiddenNames() []string }

// Record contains the names of the parameters that [Set] has set in the struct that embeds the
// Record. Shallow copies of the struct have their own records.
type Record struct{ set []string }

// IsSet reports whether a parameter was set, even to its zero value.
func (r *Record) IsSet(name string) bool { return slices.Contains(r.set, name) }

func (r *Record) note(name string) { r.set = append(slices.Clip(r.set), name) }

// ValueError reports an invalid value of a parameter.
type ValueError struct{ Name, Value, Allowed string }

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s must be %s, got %s", e.Name, e.Allowed, e.Value)
}

// fieldsOf returns the parameters of a struct or a pointer to a struct.
func fieldsOf(of any) (fields []field) {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var hidden []string
	if h, ok := of.(Hider); ok {
		hidden = h.HiddenNames()
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name := f.Tag.Get("param"); name != "" && !slices.Contains(hidden, name) {
			fields = append(fields, field{name, f.Name, f.Tag, v.FieldByIndex(f.Index)})
		}
	}
	return fields
}

func findField(of any, name string) (field, bool) {
	fields := fieldsOf(of)
	if at := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); at >= 0 {
		return fields[at], true
	}
	return field{}, false
}

// Has reports whether a struct has a parameter with the given name.
func Has(of any, name string) bool {
	_, has := findField(of, name)
	return has
}

// Names returns the names of all parameters of a struct, in the order of the fields.
func Names(of any) (names []string) {
	for _, f := range fieldsOf(of) {
		names = append(names, f.name)
	}
	return names
}

// Set sets a parameter of *to, and adds it to the [Record] of *to, if any. An unknown parameter is
// an error. For an invalid value, the error is a [*ValueError] or from UnmarshalText.
func Set(to any, name, text string) error {
	if err := SetUnrecorded(to, name, text); err != nil {
		return err
	}
	if r, ok := to.(interface{ note(name string) }); ok {
		r.note(name)
	}
	return nil
}

// SetUnrecorded sets a parameter like [Set], but doesn't add it to the [Record].
func SetUnrecorded(to any, name, text string) error {
	f, has := findField(to, name)
	if !has {
		names := "none"
		if all := Names(to); len(all) > 0 {
			names = strings.Join(all, ", ")
		}
		return fmt.Errorf("unknown parameter %q; valid parameters are %s", name, names)
	}
	err := f.parse(text)
	if err != nil || f.check() != nil || f.format() == "auto" && text != "auto" {
		if f.allowedValues() == "" {
			return err // error of UnmarshalText
		}
		return &ValueError{name, text, f.allowedValues()}
	}
	return nil
}

// Get returns the value of a parameter, or nil if the parameter is unknown.
func Get(of any, name string) any {
	if f, has := findField(of, name); has {
		return f.value.Interface()
	}
	return nil
}

// Visit calls visit for each parameter, with the names of field and parameter, and values that
// [Set] accepts. The zero value has no values. A map has one value per entry.
func Visit(of any, visit func(field, name string, values []string) error) error {
	for _, f := range fieldsOf(of) {
		var values []string
		if entries, ok := f.value.Interface().(map[string]float64); ok {
			for _, key := range slices.Sorted(maps.Keys(entries)) {
				values = append(values, fmt.Sprintf("%s=%v", key, entries[key]))
			}
		} else if !f.value.IsZero() {
			values = []string{f.format()}
		}
		if err := visit(f.fieldName, f.name, values); err != nil {
			return err
		}
	}
	return nil
}

// Values returns the nonzero parameters of a struct in the form that [SetAll] accepts.
func Values(of any) map[string][]string {
	all := map[string][]string{}
	_ = Visit(of, func(_, name string, values []string) error {
		if values != nil {
			all[name] = values
		}
		return nil
	})
	return all
}

// SetAll sets the parameters of *to to values returned by [Values].
func SetAll(to any, all map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, text := range all[name] {
			if err := Set(to, name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Default returns the default of a parameter as text, or "" if there is none.
func Default(of any, name string) string {
	f, _ := findField(of, name)
	return f.tag.Get("default")
}

// With copies the struct *of, sets the parameters in values as [Set] does, and returns a pointer to
// the copy.
func With[T any](of T, values map[string]any) (T, error) {
	to := reflect.New(reflect.TypeOf(of).Elem())
	to.Elem().Set(reflect.ValueOf(of).Elem())
	out := to.Interface().(T)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := Set(out, name, fmt.Sprint(values[name])); err != nil {
			return out, err
		}
	}
	return out, nil
}

// cutList splits a list at the first comma outside parentheses.
func cutList(list string) (one, rest string) {
	depth := 0
	for i, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth <= 0:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

// Setting is the name and value of a parameter.
type Setting struct{ Name, Value string }

// Split splits a list such as k=5,uniform=true into settings. Values with commas must be in
// parentheses.
func Split(list string) (all []Setting, err error) {
	for list != "" {
		var one string
		one, list = cutList(list)
		name, value, ok := strings.Cut(one, "=")
		name = strings.TrimSpace(name)
		if !ok {
			return nil, fmt.Errorf("%q is not of the form parameter=value", one)
		}
		if slices.ContainsFunc(all, func(s Setting) bool { return s.Name == name }) {
			return nil, fmt.Errorf("parameter %s occurs twice", name)
		}
		value = strings.TrimSpace(value)
		if whole, _ := cutList(value); whole == value && strings.Contains(value, ",") && value[0] == '(' {
			value = strings.TrimSuffix(value[1:], ")")
		}
		all = append(all, Setting{name, value})
	}
	return all, nil
}

// Parse sets the parameters of *to from a list such as k=5,uniform=true. See [Split].
func Parse(to any, list string) error {
	all, err := Split(list)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := Set(to, s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// Resolve sets zero values to defaults, and checks the bounds of all parameters.
func Resolve(to any) error {
	for _, f := range fieldsOf(to) {
		if f.value.IsZero() && f.tag.Get("default") != "" {
			f.value.Set(f.defaultValue())
		}
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

// Spec returns a colon and the parameters that differ from their defaults, in the format of
// [Parse], or "" if there are none. It leaves out parameters with a flag tag, because they have
// their own flags.
func Spec(of any) string {
	var all []string
	for _, f := range fieldsOf(of) {
		_, own := f.tag.Lookup("flag")
		if !own && !f.value.IsZero() && !reflect.DeepEqual(f.value.Interface(), f.defaultValue().Interface()) {
			text := f.format()
			if one, _ := cutList(text); one != text {
				text = "(" + text + ")"
			}
			all = append(all, f.name+"="+text)
		}
	}
	if all == nil {
		return ""
	}
	return ":" + strings.Join(all, ",")
}

// HelpRow describes a parameter in help.
type HelpRow struct{ Name, Help, Default string }

// Help returns a row for each parameter without a flag tag.
func Help(of any) (rows []HelpRow) {
	for _, f := range fieldsOf(of) {
		if _, own := f.tag.Lookup("flag"); own {
			continue
		}
		help := f.tag.Get("help") + ": " + f.allowedValues()
		f.value = f.defaultValue()
		rows = append(rows, HelpRow{f.name, help, f.format()})
	}
	return rows
}

// defaultValue returns the default, or the zero value if the tags have no default. It panics if the
// default is invalid.
func (f *field) defaultValue() reflect.Value {
	own := *f
	own.value = reflect.New(f.value.Type()).Elem()
	if text := f.tag.Get("default"); text != "" {
		if err := own.parse(text); err != nil {
			panic(fmt.Sprintf("params: default of %s: %v", f.name, err))
		}
	}
	return own.value
}

func (f *field) isEnumeration() bool {
	_, is := f.value.Interface().(fmt.Stringer)
	return is && f.value.Kind() == reflect.Int
}

func (f *field) enumNames() (names []string) {
	least, _ := f.bound("min")
	most, _ := f.bound("max")
	for i := int64(least); i <= int64(most); i++ {
		word := reflect.New(f.value.Type()).Elem()
		word.SetInt(i)
		names = append(names, word.Interface().(fmt.Stringer).String())
	}
	return names
}

func (f *field) bound(tag string) (float64, bool) {
	v, err := strconv.ParseFloat(f.tag.Get(tag), 64)
	return v, err == nil
}

func (f *field) parse(text string) error {
	if auto := f.tag.Get("auto"); auto != "" && text == "auto" {
		text = auto
	}
	if own, ok := f.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return own.UnmarshalText([]byte(text))
	}
	if f.isEnumeration() {
		least, _ := f.bound("min")
		at := slices.Index(f.enumNames(), text)
		if at < 0 {
			at = -1 - int(least) // out of bounds, so that check rejects it
		}
		f.value.SetInt(int64(at) + int64(least))
		return nil
	}
	switch f.value.Kind() {
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		f.value.SetBool(v)
		return err
	case reflect.Int:
		v, err := strconv.Atoi(text)
		f.value.SetInt(int64(v))
		return err
	case reflect.Uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		f.value.SetUint(v)
		return err
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		f.value.SetFloat(v)
		return err
	case reflect.Map:
		return f.setEntry(text)
	}
	f.value.SetString(text)
	return nil
}

// setEntry parses an entry KEY=NUMBER and adds the entry to a copy of the map.
func (f *field) setEntry(text string) error {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(text[at+1:], 64)
	if err != nil || !f.allows(v) {
		return strconv.ErrRange
	}
	own := maps.Clone(f.value.Interface().(map[string]float64))
	if own == nil {
		own = map[string]float64{}
	}
	own[text[:at]] = v
	f.value.Set(reflect.ValueOf(own))
	return nil
}

// format returns the value as text that parse accepts, except for maps.
func (f *field) format() string {
	v := f.value.Interface()
	if auto := f.tag.Get("auto"); auto != "" && fmt.Sprint(v) == auto {
		return "auto"
	}
	return fmt.Sprint(v)
}

func (f *field) check() error {
	var v float64
	switch f.value.Kind() {
	case reflect.Int:
		v = float64(f.value.Int())
	case reflect.Float64:
		v = f.value.Float()
	default:
		return nil
	}
	if auto := f.tag.Get("auto") != "" && f.format() == "auto"; auto || f.allows(v) {
		return nil
	}
	return fmt.Errorf("%s must be %s, got %s", f.name, f.allowedValues(), f.format())
}

func (f *field) allows(v float64) bool {
	least, hasLeast := f.bound("min")
	most, hasMost := f.bound("max")
	above, hasAbove := f.bound("above")
	below, hasBelow := f.bound("below")
	finite := math.Abs(v) <= math.MaxFloat64 || math.IsInf(most, 1)
	return finite && (!hasLeast && !f.isEnumeration() || v >= least) && (!hasMost || v <= most) &&
		(!hasAbove || v > above) && (!hasBelow || v < below)
}

func (f *field) allowedValues() string {
	if text := f.tag.Get("wants"); text != "" {
		return text
	}
	text := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.Int: "an integer",
		reflect.Uint64: "a non-negative integer", reflect.Float64: "a number",
		reflect.String: "a string"}[f.value.Kind()]
	if f.isEnumeration() {
		words := f.enumNames()
		last := len(words) - 1
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	least, most := f.tag.Get("min"), f.tag.Get("max")
	above, below := f.tag.Get("above"), f.tag.Get("below")
	switch {
	case least != "" && most != "":
		text += " from " + least + " to " + most
	case least != "":
		text += " of at least " + least
	case below != "":
		text += " above " + above + " and below " + below
	case most != "" && most != "+Inf":
		text += " above " + above + " and at most " + most
	case above != "":
		text += " above " + above
	}
	if f.tag.Get("auto") != "" {
		text += ", or auto"
	}
	return text
}
