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

// File is a model file that is being written or read, see [File.Writing]. A Describe function calls
// File's methods in file order. After an error, further calls have no effect.
type File struct {
	writing     bool
	encodedKeys []string                   // encoded keys, as "key":value
	unreadKeys  map[string]json.RawMessage // keys that haven't been read yet

	sections   []section
	arrayBytes int64 // total size of the sections in bytes

	tokenizer corpus.Tokenizer     // set by [File.Vocabulary]
	form      corpus.FormatOptions // set by [File.Vocabulary]
	err       error                // the first error
}

// Writing reports whether the file is being written.
func (f *File) Writing() bool { return f.writing }

// RecordError records err as the file's error, unless an earlier error was recorded.
func (f *File) RecordError(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *File) fail(format string, args ...any) { f.RecordError(fmt.Errorf(format, args...)) }

// Key describes a key of the header. value is a pointer to the key's value. The file stores the
// value as JSON (see encoding/json). When reading, a missing key sets the value to zero.
func (f *File) Key(key string, value any) {
	if f.err != nil {
		return
	}
	if f.writing {
		b, err := json.Marshal(value)
		if f.RecordError(err); err == nil {
			f.encodedKeys = append(f.encodedKeys, fmt.Sprintf("%q:%s", key, b))
		}
		return
	}
	reflect.ValueOf(value).Elem().SetZero()
	if raw, ok := f.unreadKeys[key]; ok {
		delete(f.unreadKeys, key)
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(value); err != nil {
			f.fail("key %q: %w", key, err)
		}
	}
}

// OptionalKey is like [File.Key], but doesn't write a zero value or an empty slice.
func (f *File) OptionalKey(key string, value any) {
	v := reflect.ValueOf(value).Elem()
	if empty := v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0; !f.writing || !empty {
		f.Key(key, value)
	}
}

// Object describes a key whose value is a JSON object. describe calls methods of f for the keys of
// this object.
func (f *File) Object(key string, describe func()) {
	written, keys := f.encodedKeys, f.unreadKeys
	f.encodedKeys, f.unreadKeys = nil, nil
	if raw, ok := keys[key]; ok {
		delete(keys, key)
		if err := json.Unmarshal(raw, &f.unreadKeys); err != nil {
			f.fail("key %q: %w", key, err)
		}
	}
	describe()
	f.rejectUnknownKeys()
	if f.writing {
		written = append(written, fmt.Sprintf("%q:%s", key, f.object()))
	}
	f.encodedKeys, f.unreadKeys = written, keys
}

func (f *File) object() string { return "{" + strings.Join(f.encodedKeys, ",") + "}" }

func (f *File) rejectUnknownKeys() {
	for _, key := range slices.Sorted(maps.Keys(f.unreadKeys)) {
		f.fail("unknown key %q", key)
	}
}

// Count describes a key whose value is an integer between 0 and most, inclusive.
func Count[T int | int64](f *File, key string, n *T, most int64) {
	wide := int64(*n) // int may have only 32 bits
	f.Key(key, &wide)
	if most = min(most, math.MaxInt); f.err == nil && (wide < 0 || wide > most) {
		f.fail("%s must be between 0 and %d, got %d", key, most, wide)
	}
	if *n = 0; f.err == nil {
		*n = T(wide)
	}
}

// Enum describes a key whose value is an element of all. The file stores the result of the
// element's String method.
func Enum[T interface {
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
		f.fail("unknown %s %q", key, name)
		return
	}
	*value = all[at]
}

// Strings describes a key whose value is a list of strings. Strings needn't be UTF-8.
func (f *File) Strings(key string, names *[]string) {
	raw := RawStrings(*names)
	f.Key(key, &raw)
	*names = Strings(raw)
}

// Corpus describes the name and the digest of the training corpus. The name needn't be UTF-8.
func (f *File) Corpus(source *string, digest *[32]byte) {
	name, text := RawString(*source), hex.EncodeToString(digest[:])
	f.Key("source", &name)
	f.Key("corpus", &text)
	if f.writing || f.err != nil {
		return
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(digest) {
		f.fail("corpus digest must have %d hexadecimal digits, got %q", 2*len(digest), text)
		return
	}
	*source, *digest = string(name), [32]byte(b)
}
