package archive

import (
	"encoding/json"
	"unicode/utf8"
)

// RawString is a string that needn't be UTF-8. JSON stores invalid UTF-8 as base64 in an object.
type RawString string

type base64String struct {
	Bytes []byte `json:"bytes"`
}

func (n RawString) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(base64String{[]byte(n)})
}

func (n *RawString) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '{' {
		return json.Unmarshal(b, (*string)(n))
	}
	var raw base64String
	err := json.Unmarshal(b, &raw)
	*n = RawString(raw.Bytes)
	return err
}

func RawStrings(texts []string) []RawString {
	out := make([]RawString, len(texts))
	for i, s := range texts {
		out[i] = RawString(s)
	}
	return out
}

// Strings converts raw strings to strings. It returns nil for an empty list.
func Strings(names []RawString) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}
