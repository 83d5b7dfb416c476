package gram_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gramengine/gram"
)

// What grambench train does by default: kernel, C and scheme are chosen by cross-validation on samples.
func ExampleTrain() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{}))
	fmt.Println(m.About().Classes, m.Save(filepath.Join(os.TempDir(), "synthetic.model")))
	// Output: [class1 class2] <nil>
}
