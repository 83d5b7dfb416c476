package corpus_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gramengine/gram/corpus"
)

// This example reads texts in memory, with words and word pairs as terms.
func ExampleFromTexts() {
	tokenizer, err := corpus.ParseTokenizer("word:ngrams=1..2")
	if err != nil {
		panic(err)
	}
	c, err := corpus.FromTexts(context.Background(), []string{"not good", "Good, not bad"}, []string{"neg", "pos"},
		corpus.Options{MinDF: 1, Tokenizer: tokenizer})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Classes, strings.Join(c.Vocabulary, ", "))
	// Output: [neg pos] bad, good, good not, not, not bad, not good
}

// This example reads a table from a stream. Its first line names the columns.
func ExampleReadFrom() {
	const table = "stars,review\n5,\"good, very good\"\n1,bad\n"
	c, err := corpus.ReadFrom(context.Background(), strings.NewReader(table), "reviews.csv",
		corpus.Options{FormatOptions: corpus.FormatOptions{LabelColumn: "stars"}, MinDF: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Classes, c.Vocabulary)
	// Output: [5 1] [bad good very]
}

// Tokenizer has the parameters of scikit-learn's CountVectorizer, with the same names.
func ExampleTokenizer() {
	tokenizer := corpus.Tokenizer{MinN: 1, MaxN: 2, Digits: true, StopWords: "the of"}
	fmt.Println(tokenizer)
	again, err := corpus.ParseTokenizer(tokenizer.String())
	fmt.Println(again == tokenizer.Canonical(), err)

	counter, err := corpus.NewCounter(tokenizer, []string{"42", "answer", "answer 42"})
	if err != nil {
		panic(err)
	}
	documents, err := counter.Count(context.Background(), []string{"The answer: 42", "42 of 42"})
	if err != nil {
		panic(err)
	}
	for i := range documents.Rows() {
		terms, counts := documents.Row(i)
		fmt.Println(terms, counts)
	}
	// Output:
	// word:ngrams=1..2,digits,stop="of the"
	// true <nil>
	// [0 1 2] [1 1 1]
	// [0] [2]
}
