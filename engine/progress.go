package engine

import (
	"github.com/gramengine/gram/engine/internal/compute"
)

// Progress is how far a computation is: Done of Total pairs of documents.
type Progress = compute.Progress
