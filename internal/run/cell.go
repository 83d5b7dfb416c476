package run

import (
	"strconv"
	"strings"
)

// EscapeCell returns a cell that no spreadsheet interprets as a formula. It inserts an apostrophe
// before a leading =, +, -, @, TAB or CR, unless the cell is a number or "-".
func EscapeCell(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil || s == "-" {
		return s
	}
	return "'" + s
}
