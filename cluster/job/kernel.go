package job

import (
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// ParseKernel parses spec, the value of -kernel, and embedding, the value of -embed or "".
func ParseKernel(spec, embedding string) (kernel.Kernel, error) {
	k, err := kernel.Parse(spec)
	if embedding != "" {
		var e sparse.Embedding
		if e, err = sparse.ParseEmbedding(embedding); err != nil {
			return nil, fmt.Errorf("-embed: %w", err)
		}
		k, err = kernel.ParseIn(spec, e)
	}
	return k, err
}
