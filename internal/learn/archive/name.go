package archive

import (
	"encoding/json"
	"unicode/utf8"
)

// Name is a string that needn't be UTF-8. In JSON, invalid UTF-8 is stored as base64 in an object.
type Name string

type rawName struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON implements json.Marshaler.
func (n Name) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(rawName{[]byte(n)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Name) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, (*string)(n))
	}
	var raw rawName
	err := json.Unmarshal(b, &raw)
	*n = Name(raw.Bytes)
	return err
}

// Names converts strings to names.
func Names(texts []string) []Name {
	out := make([]Name, len(texts))
	for i, s := range texts {
		out[i] = Name(s)
	}
	return out
}

// Strings converts names to strings. It returns nil for an empty list.
func Strings(names []Name) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}
