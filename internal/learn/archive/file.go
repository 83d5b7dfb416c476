package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
)

// File takes the statements of a description, which write a file or read one. After an error the rest
// of them have no effect.
type File struct {
	writing bool
	written []string                   // "key":value of each key
	keys    map[string]json.RawMessage // those that no statement has read

	parts []part
	total int64 // bytes of them

	tokenizer corpus.Tokenizer // that [File.Text] has read
	form      corpus.Form      // the same
	err       error            // the first
}

// Writing reports whether the file is written.
func (f *File) Writing() bool { return f.writing }

// Check makes an error, if it isn't nil, that of the file.
func (f *File) Check(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *File) fail(format string, args ...any) { f.Check(fmt.Errorf(format, args...)) }

// Key describes a key of the header and the place of its value, which encoding/json writes and reads.
// A key that isn't there is read as a zero.
func (f *File) Key(key string, value any) {
	if f.err != nil {
		return
	}
	if f.writing {
		b, err := json.Marshal(value)
		if f.Check(err); err == nil {
			f.written = append(f.written, fmt.Sprintf("%q:%s", key, b))
		}
		return
	}
	reflect.ValueOf(value).Elem().SetZero()
	if raw, ok := f.keys[key]; ok {
		delete(f.keys, key)
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(value); err != nil {
			f.fail("key %q: %w", key, err)
		}
	}
}

// Optional is a [File.Key] that isn't written for a value of zero.
func (f *File) Optional(key string, value any) {
	v := reflect.ValueOf(value).Elem()
	if empty := v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0; !f.writing || !empty {
		f.Key(key, value)
	}
}

// Object describes a key whose value is an object, by a function that names its keys.
func (f *File) Object(key string, describe func()) {
	written, keys := f.written, f.keys
	f.written, f.keys = nil, nil
	if raw, ok := keys[key]; ok {
		delete(keys, key)
		if err := json.Unmarshal(raw, &f.keys); err != nil {
			f.fail("key %q: %w", key, err)
		}
	}
	describe()
	f.unknown()
	if f.writing {
		written = append(written, fmt.Sprintf("%q:%s", key, f.object()))
	}
	f.written, f.keys = written, keys
}

// object returns what was written as an object.
func (f *File) object() string { return "{" + strings.Join(f.written, ",") + "}" }

// unknown makes a key that no statement has read an error.
func (f *File) unknown() {
	for _, key := range slices.Sorted(maps.Keys(f.keys)) {
		f.fail("key %q is unknown", key)
	}
}

// Count describes a key whose value is from 0 to most, and an int.
func Count[T int | int64](f *File, key string, n *T, most int64) {
	wide := int64(*n) // also where an int is narrower
	f.Key(key, &wide)
	if most = min(most, math.MaxInt); f.err == nil && (wide < 0 || wide > most) {
		f.fail("%d %s, expected 0 to %d", wide, key, most)
	}
	if *n = 0; f.err == nil {
		*n = T(wide)
	}
}

// Named describes a key whose value is one of some that have names.
func Named[T interface {
	comparable
	fmt.Stringer
}](f *File, key string, value *T, all ...T) {
	name := (*value).String()
	f.Key(key, &name)
	if f.writing || f.err != nil {
		return
	}
	at := slices.IndexFunc(all, func(v T) bool { return v.String() == name })
	if at < 0 {
		f.fail("%s %q is unknown", key, name)
		return
	}
	*value = all[at]
}

// Names describes a key whose value is a list of texts, which needn't be UTF-8.
func (f *File) Names(key string, names *[]string) {
	raw := Names(*names)
	f.Key(key, &raw)
	*names = Strings(raw)
}

// Corpus describes the corpus that a model was trained on: its name, which needn't be UTF-8, and its
// digest.
func (f *File) Corpus(source *string, digest *[32]byte) {
	name, text := Name(*source), hex.EncodeToString(digest[:])
	f.Key("source", &name)
	f.Key("corpus", &text)
	if f.writing || f.err != nil {
		return
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(digest) {
		f.fail("corpus %q, expected %d hexadecimal digits", text, 2*len(digest))
		return
	}
	*source, *digest = string(name), [32]byte(b)
}
