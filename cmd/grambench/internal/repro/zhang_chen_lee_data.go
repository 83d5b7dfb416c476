package repro

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// universities are held out in turn.
var universities = []string{"cornell", "texas", "washington", "wisconsin"}

// trainTest is a division of a corpus; terms and classes of both parts are numbered alike.
type trainTest struct {
	name        string
	train, test *sparse.Corpus
}

// webkb reads WebKB, and divides it by leaving one university out. Labels class|university become classes.
func (z *zhang) webkb(ctx context.Context, r *Run) ([]trainTest, string, error) {
	c, err := r.ReadText(ctx, WebKB, WebKB.Files[0], sparse.Options{MinDF: z.text.MinDF})
	if err != nil {
		return nil, "", err
	}
	if c, err = z.text.Apply(c); err != nil {
		return nil, "", err
	}
	of := make([]string, c.Documents.Rows()) // the university of each page
	whole := *c
	whole.Classes, whole.Labels = nil, sparse.Labels{}
	for i := range of {
		ids := c.Labels.Of(i)
		var class string
		var ok bool
		if len(ids) == 1 {
			class, of[i], ok = strings.Cut(c.Classes[ids[0]], "|")
		}
		if !ok {
			return nil, "", fmt.Errorf("%s:%d: expected one label class|university", c.Source, i+1)
		}
		k := slices.Index(whole.Classes, class)
		if k < 0 {
			k, whole.Classes = len(whole.Classes), append(whole.Classes, class)
		}
		whole.Labels.Add(int32(k))
	}
	var splits []trainTest
	for _, u := range universities {
		var in, out []int
		for i := range of {
			if of[i] == u {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		if len(out) == 0 || len(in) == 0 {
			return nil, "", fmt.Errorf("%s: no pages of %s, or of no other university", c.Source, u)
		}
		splits = append(splits, trainTest{u, whole.Select(in), whole.Select(out)})
	}
	return splits, digestOf(c), nil
}

// newsgroups reads 20 Newsgroups.
func (z *zhang) newsgroups(ctx context.Context, r *Run) ([]trainTest, string, error) {
	train, test, err := r.readNewsgroups(ctx, z.text)
	if err != nil {
		return nil, "", err
	}
	return []trainTest{{"20news-bydate", train, test}}, digestOf(train) + " " + digestOf(test), nil
}

// readNewsgroups reads the training and the test set, whose terms are those of the training set.
func (r *Run) readNewsgroups(ctx context.Context, text Preparation) (train, test *sparse.Corpus, err error) {
	if train, err = r.ReadText(ctx, Newsgroups, Newsgroups.Files[0], sparse.Options{MinDF: text.MinDF}); err != nil {
		return nil, nil, err
	}
	if test, err = r.ReadText(ctx, Newsgroups, Newsgroups.Files[1], sparse.Options{Vocabulary: train.Vocabulary}); err != nil {
		return nil, nil, err
	}
	train, err = text.Apply(train) // what it leaves out no embedding learns, so test documents needn't leave it out
	return train, test, err
}

// digestOf names a corpus in the head of a file of results.
func digestOf(c *sparse.Corpus) string {
	d := c.Digest()
	return hex.EncodeToString(d[:8])
}
