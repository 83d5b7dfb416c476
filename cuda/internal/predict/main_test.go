package main

import (
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

// The model's table has a line for each corpus.
func TestCorpora(t *testing.T) {
	var out strings.Builder
	err := corpora(t.Context(), &out, []string{"synthetic:docs=50,terms=90"})
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); err != nil || len(lines) != 3 ||
		!strings.HasPrefix(lines[2], "| synthetic:docs=50,terms=90 | 50 | ") {
		t.Errorf("%q, error %v", out.String(), err)
	}
	if err := corpora(t.Context(), &out, []string{"absent.svm"}); err == nil {
		t.Error("a corpus that isn't there has a line")
	}
}
