package archive

import (
	"encoding/json"
	"unicode/utf8"
)

// Name is a text: a JSON string where that can hold it, else an object with its bytes in base64.
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

// Names returns texts as names.
func Names(texts []string) []Name {
	out := make([]Name, len(texts))
	for i, s := range texts {
		out[i] = Name(s)
	}
	return out
}

// Strings returns names as texts, nil for none.
func Strings(names []Name) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}
