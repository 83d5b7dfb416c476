package corpus

import (
	"bytes"
	"context"
	"unicode/utf8"
)

var fastTextFormat = fileFormat{name: FormatFastText, read: readFastText,
	matchesLine: func(l []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(l), []byte(fastTextLabel)) }}

const fastTextLabel = "__label__"

// readFastText reads lines with labels, such as "__label__a __label__b text". As in fastText,
// labels may occur anywhere in the line. The prefix __label__ isn't part of a label.
func readFastText(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	return readTextLines(ctx, in, opt, m, "lines "+fastTextLabel+"NAME text", addFastText)
}

func addFastText(p *parsedTexts, l []byte, line int32) *SyntaxError {
	if p.skipBlank(l, line) || !p.labels.memory.canAllocate(nameBytes*int64(bytes.Count(l, []byte(fastTextLabel)))) {
		return nil
	}
	var names []string
	text := make([]byte, 0, len(l)+1)
	for word := range bytes.FieldsSeq(l) {
		name, ok := bytes.CutPrefix(word, []byte(fastTextLabel))
		switch {
		case !ok:
			text = append(append(text, word...), ' ')
		case len(name) == 0:
			return newSyntaxError(quote(word), "a name after "+fastTextLabel)
		case !utf8.Valid(name):
			return invalidNameError(name)
		default:
			names = append(names, string(name))
		}
	}
	if bad := p.labels.addNames(names); bad != nil {
		return bad
	}
	p.add(text, line)
	return nil
}
