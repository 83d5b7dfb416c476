package benchduplicates

import (
	"math/rand/v2"
	"strings"
)

// names returns n names of companies, the same each time: a word or two of syllables, a trade, a form. Some are
// others with a letter changed, or another form.
func names(n int) []string {
	r := rand.New(rand.NewPCG(3, 1))
	syllables := strings.Fields("al an ar bel bor cal car con dan del dor el en fer gal gen hal han in jor kal kor lan " +
		"len lin lor mal mar mer mon nal nor ol or pan per ran rel rin ros sal san ser sol tal tan tel tor val van ver vin " +
		"wel")
	trades := strings.Fields("holdings logistics energy foods systems capital partners trading software media steel " +
		"pharma motors textiles consulting engineering properties insurance chemicals airlines")
	forms := strings.Fields("inc ltd llc gmbh corp plc sa ag limited co")
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var out []string
	for len(out) < n {
		if len(out) > 0 && r.IntN(10) == 0 {
			name := []byte(pick(out))
			if name[r.IntN(len(name))] = byte('a' + r.IntN(26)); r.IntN(2) == 0 {
				name = append(name[:strings.LastIndexByte(string(name), ' ')+1], pick(forms)...)
			}
			out = append(out, string(name))
			continue
		}
		var name strings.Builder
		for range 1 + r.IntN(2) {
			for range 2 + r.IntN(3) {
				name.WriteString(pick(syllables))
			}
			name.WriteByte(' ')
		}
		out = append(out, name.String()+pick(trades)+" "+pick(forms))
	}
	return out
}
