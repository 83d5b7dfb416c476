package corpus

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/synthetic"
)

// readSynthetic generates a synthetic corpus. Options.MinDF and MaxDF remove values but not
// columns, as for vectors.
func readSynthetic(ctx context.Context, source, parameters string, opt *Options, m *progressMeter) (*Corpus, error) {
	s, err := synthetic.Parse(parameters)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	const aTerm, aTermOfWorker = 44, 8 // bytes per term without the text of its name, and bytes per term and worker
	tables := int64(s.TermCount) * (s.TermBytes() + aTerm + aTermOfWorker*int64(opt.Workers))
	size := Size{Documents: s.DocumentCount, Terms: s.TermCount, Classes: s.ClassCount, LongestRow: s.MeanLength,
		Values: int64(s.DocumentCount) * int64(s.MeanLength)}
	if err := opt.memory.checkFits(source, tables+countedDocumentBytes*int64(s.DocumentCount), size); err != nil {
		return nil, err
	}
	opt.memory.add(tables)
	generator, err := s.NewGenerator(ctx, opt.Workers)
	if err != nil {
		return nil, err
	}
	if err := opt.resolveVocabulary(); err != nil {
		return nil, err
	}
	vocabulary := s.Vocabulary()
	own := Options{Workers: opt.Workers, Vocabulary: opt.Vocabulary, memory: opt.memory}
	if own.Vocabulary == nil {
		own.Vocabulary = vocabulary
	}
	counters, err := newCounters(ctx, &own)
	if err != nil {
		return nil, err
	}
	some := min(s.DocumentCount, 256)
	documents := make([]countedDocument, some)
	counts := make([][]uint32, opt.Workers)  // counts of one document, by worker; all zero between documents
	numbers := make([][]uint32, opt.Workers) // 1 + ID of each term in the worker's counter; 0 if it has no ID
	draw := func(w, lo, hi int) {
		if counts[w] == nil {
			counts[w], numbers[w] = make([]uint32, s.TermCount), make([]uint32, s.TermCount)
		}
		var drawn []uint32
		var taken int64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			drawn = generator.Document(i, counts[w], drawn[:0])
			for _, t := range drawn {
				if numbers[w][t] == 0 {
					numbers[w][t] = counters[w].id([]byte(vocabulary[t]), &taken) + 1
				}
				counted := termCount{numbers[w][t] - 1, float32(counts[w][t])}
				counters[w].columnTerms, counts[w][t] = append(counters[w].columnTerms, counted), 0
			}
			documents[i] = counters[w].endDocument()
			m.documents.Add(1)
		}
		opt.memory.add(taken)
	}
	// The memory of all documents is extrapolated from the first documents, because the number of
	// distinct terms per document varies little.
	draw(0, 0, some)
	size.Values = 0
	for _, d := range documents[:some] {
		size.Values += int64(d.termCount)
	}
	size.Values = size.Values * int64(s.DocumentCount) / int64(some)
	rest, fresh := s.DocumentCount-some,
		s.TermCount*opt.Workers-len(counters[0].states) // numbers of documents and terms that aren't counted yet
	bytes := countedTermBytes*int64(fresh) + countedValueBytes*size.Values + countedDocumentBytes*int64(rest)
	if err := opt.memory.checkFits(source, bytes, size); err != nil {
		return nil, err
	}
	documents = append(documents, make([]countedDocument, rest)...)
	err = run.ForEachChunk(ctx, opt.Workers, rest, func(w, lo, hi int) error {
		draw(w, some+lo, some+hi)
		return opt.memory.check(source)
	})
	if err != nil {
		return nil, err
	}
	c := &Corpus{Source: source, Format: "synthetic"}
	for i := range min(s.ClassCount, s.DocumentCount) {
		c.Classes = append(c.Classes, "class"+strconv.Itoa(i+1))
	}
	for i := range s.DocumentCount {
		c.Labels.Add(int32(i % s.ClassCount))
	}
	err = c.setDocuments(ctx, &own, counters, documents, func(i int) string {
		return fmt.Sprintf("%s, %s", source, c.DocumentName(i))
	})
	if err == nil {
		limitVectors(c, opt)
	}
	return c, err
}
