package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/cli"
)

// Costs is a file of bench -fit: what the parts of a dot product cost on a machine.
type Costs struct {
	Schema  int      `json:"schema"` // 1
	Machine string   `json:"machine"`
	Date    string   `json:"date"`
	ISA     asm.ISA  `json:"isa"`
	Cost    asm.Cost `json:"cost_ns"`
}

// Write writes the file.
func (c *Costs) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(c)
}

// ParseCosts reads what Write wrote.
func ParseCosts(name string, text []byte) (*Costs, error) {
	var c Costs
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("%s: %w, expected a file of bench -fit", name, err)
	}
	if c.Schema != 1 || c.ISA == "" {
		return nil, fmt.Errorf("%s: schema %d, instruction set %q, expected schema 1 of bench -fit", name, c.Schema, c.ISA)
	}
	for _, v := range []float64{c.Cost.HeadValue, c.Cost.HeadFar, c.Cost.HeadDocument, c.Cost.TailMatch, c.Cost.TailList,
		c.Cost.L3Byte} {
		if !(v >= 0 && v <= 1e9) {
			return nil, fmt.Errorf("%s: a cost of %g ns, expected numbers from 0 to 10⁹", name, v)
		}
	}
	if !(c.Cost.HeadValue > 0 && c.Cost.TailMatch > 0) || math.IsInf(c.Cost.HeadValue/c.Cost.TailMatch, 0) {
		return nil, fmt.Errorf("%s: a value of the head costs %g ns and a match of the tail %g, expected both above 0", name,
			c.Cost.HeadValue, c.Cost.TailMatch)
	}
	return &c, nil
}

// declareCosts declares -costs.
func (c *Compute) declareCosts(f *cli.Flags) {
	f.Reads(&c.costsFile, "costs",
		"choose the dense terms by the costs in `FILE`, of bench -fit; results differ in their bits "+
			"from those without")
	f.Check(func() error {
		if c.costsFile == "" {
			return nil
		}
		text, err := os.ReadFile(c.costsFile)
		if err != nil {
			return err
		}
		if c.costs, err = ParseCosts(c.costsFile, text); err != nil {
			return err
		}
		asm.UseCost(c.costs.ISA, &c.costs.Cost)
		return nil
	})
	f.AtEnd(func() error {
		if c.costs != nil {
			asm.UseCost(c.costs.ISA, nil)
		}
		return nil
	})
}

// sayCosts says that bits go by a file.
func (c *Compute) sayCosts(e *cli.Env) {
	if c.costs != nil {
		e.Say("dense terms on %s by the costs of %s, measured on %s: results may differ in their bits from those "+
			"without -costs", c.costs.ISA, c.costsFile, c.costs.Machine)
	}
}

// CostsOrigin says where the costs come from that the dense terms are chosen by.
func (c *Compute) CostsOrigin() string {
	if c.costs != nil {
		return fmt.Sprintf("bench -fit on %s, %s, for %s", c.costs.Machine, c.costs.Date, c.costs.ISA)
	}
	return asm.CostOrigin
}
