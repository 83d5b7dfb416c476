package main

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// A kernel's code is counted, and that of the loop without another in it that has most products.
func TestCodeOf(t *testing.T) {
	words := []byte("ptxas info : Compiling entry function 'k' for 'sm_90'\n 0 bytes stack frame, 4 bytes spill stores, " +
		"4 bytes spill loads\nptxas info : Used 21 registers\n")
	text := []byte(`
.text.k:
/*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
/*0010*/                   LDG.E R2, [R4] ;
.L_x_2:
/*0020*/               @P0 BRA ` + "`(.L_x_3)" + ` ;
/*0030*/                   IMAD.WIDE R2, R4, R6, R2 ;
/*0040*/                   LDS.128 R4, [R8] ;
.L_x_3:
/*0050*/               @!P0 BRA ` + "`(.L_x_2)" + ` ;
/*0060*/                   IMAD.WIDE.U32 R2, R4, R6, R2 ;
/*0070*/               @P1 BRA ` + "`(.L_x_1)" + ` ;
/*0080*/                   NOP ;

//--------------------- .text.other
`)
	c, err := codeOf("k", words, text)
	want := code{registers: "21", spilled: "4", all: tally{8, 1, 1, 0, 1}, loop: tally{4, 0, 1, 0, 1}}
	if err != nil || c != want {
		t.Errorf("found %+v, expected %+v, error %v", c, want, err)
	}
	if _, err := codeOf("other", words, text); err == nil {
		t.Error("a kernel that isn't there has code")
	}
}

// The model's table has a line for each corpus, and one with a dense end where there is one: times
// that add up, and pairs a second.
func TestCorpora(t *testing.T) {
	var out strings.Builder
	sources := []string{"synthetic:docs=3000,terms=900", "synthetic:docs=3000,terms=90000,length=9"}
	err := corpora(t.Context(), &out, sources)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err != nil || len(lines) != 5 {
		t.Fatalf("%q, error %v", out.String(), err)
	}
	for i, line := range lines[2:] {
		var v []float64
		for _, field := range strings.Split(strings.Trim(line, "| "), " | ")[1:] {
			n, _ := strconv.ParseFloat(field, 64)
			v = append(v, n)
		}
		parts, sum, rate := v[8]+v[9]+v[10]+v[11]+v[12], v[13], v[14]
		near := math.Abs(parts-sum) <= 0.15*sum && math.Abs(rate*sum/1e3-3000*2999/2) <= 0.1*3000*2999/2
		dense := i%2 == 1
		if v[0] != 3000 || !near || (v[2] > 0) != dense || (v[10] > 0) != dense || v[8]*v[9] == 0 {
			t.Errorf("%s", line)
		}
	}
	if err := corpora(t.Context(), &out, []string{"absent.svm"}); err == nil {
		t.Error("a corpus that isn't there has a line")
	}
}
