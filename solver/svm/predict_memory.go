package svm

import (
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// rowsAtATime returns how many documents are predicted together: chunkDocuments, or on a device as
// many as are worth it and fit into memory. Where that doesn't suffice it says so.
func (p *Predictor) rowsAtATime(docs *sparse.CSR) (int, error) {
	rows := chunkDocuments
	if p.device {
		rows = min(max(batchValues/p.e.Len(), p.e.Panel()), batchDocuments)
	}
	for limit := p.opt.MemoryBytes; limit > 0; rows = max(rows/2, p.e.Panel()) {
		need := p.needs(docs, rows)
		if need <= limit {
			break
		}
		if !p.device || rows <= p.e.Panel() {
			return 0, p.tooLarge(need)
		}
	}
	return rows, nil
}

// batchBytes is what batches of so many documents take, with values values at most.
func (p *Predictor) batchBytes(rows int, values int64) int64 {
	worker := p.p.SumsBytes(p.width()) + 4*turnColumns*int64(p.width())
	// Of documents there are those of each batch and those that the device had last; copying them
	// takes as much as an engine's form of them.
	return batches*(4*int64(rows)*int64(p.e.Len())+int64(p.e.Workers())*worker) + (batches+1)*sparse.EmbeddedBytes(rows, values) + p.e.CrossTilesBytes(rows, values)
}

// needs is what predicting documents takes, so many at a time.
func (p *Predictor) needs(docs *sparse.CSR, rows int) int64 {
	n := int64(docs.Rows())
	machines := int64(len(p.m.Classifier.Machines))
	need := p.opt.HeldBytes + n*(8*machines+24)
	if p.m.Type.Classifies() {
		need += n * (24 + 8*int64(len(p.m.Classes)))
	}
	if p.e == nil {
		return need
	}
	rows = min(rows, docs.Rows())
	most := int64(0)
	for first := 0; first < docs.Rows(); first += rows {
		end := min(first+rows, docs.Rows())
		most = max(most, docs.Offsets[end]-docs.Offsets[first])
	}
	if p.device {
		return need + p.e.Bytes() + p.batchBytes(rows, most)
	}
	chunk := p.e.CrossTilesBytes(rows, most) + sparse.EmbeddedBytes(rows, most) + p.p.SumsBytes(p.width())
	return need + p.e.Bytes() + int64(p.e.Workers())*chunk
}

func (p *Predictor) tooLarge(need int64) error {
	return &engine.MemoryError{What: fmt.Sprintf("predicting with %d support vectors", p.m.Support.Rows()), Need: need, Limit: p.opt.MemoryBytes}
}
