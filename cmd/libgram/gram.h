/*
 * The C interface of Gram: kernels of information geometry on sparse documents.
 *
 * Each function does the same as the function of the same name in the Go package gram, whose
 * documentation has the details.
 *
 * Errors. A function returns GRAM_OK or one of the codes below. On failure it writes a message to
 * call->error and sets returned objects to 0; other results are undefined.
 *
 * Memory. The library reads and writes the caller's memory during the call only, and keeps no
 * pointer to it. Each pointer comes with its length. A wrong length is an error. Text is UTF-8 and
 * needs no terminating 0.
 *
 * Objects are handles. gram_free frees an object. A freed handle, and a handle of the wrong kind,
 * are errors.
 *
 * Options are a JSON object such as {"kernel": "diffusion:t=2", "workers": 2}, or NULL with size 0
 * for none. An unknown key is an error that lists the known ones. Each function with options has
 *
 *   isa            instruction set: generic, avx2 or avx512; default the fastest that works
 *   workers        number of threads; default one per CPU. Results don't depend on it
 *   memory_bytes   memory limit of the call; default none
 *
 * gram_project and gram_index_query use the threads and the memory limit with which their object
 * was made. Functions without options use the defaults.
 *
 * Text is divided into terms as gram does by default. gram_neighbours and gram_duplicates use all
 * terms, other functions the terms that occur in at least two documents. In gram_duplicates and
 * indexes, words may contain digits. If two sets of documents are compared, the first is tokenised
 * as the second. gram_predict and gram_project use the terms of the training documents. gram_corpus
 * has options for this.
 *
 * Threads. Functions may be called concurrently, also with the same objects. Concurrent calls of
 * gram_predict and gram_explain with the same model share what the first has prepared, and each
 * gets the progress and warnings of all.
 *
 * Processes. The library starts threads when it is loaded. In a forked child process, which lacks
 * them, all functions but gram_version return GRAM_FORKED: start processes by spawn, or load the
 * library after the fork.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef GRAM_H
#define GRAM_H

#include <stdint.h>

#define GRAM_VERSION "0.1.0" /* version of this header; see gram_version */

#ifdef __cplusplus
extern "C" {
#endif

enum {
	GRAM_OK        = 0,
	GRAM_INVALID   = 1, /* an argument, an option, or the data */
	GRAM_MEMORY    = 2, /* memory_bytes is too small, or memory is exhausted */
	GRAM_CANCELLED = 3, /* *call->cancel was set */
	GRAM_FILE      = 4, /* reading or writing a file failed */
	GRAM_INTERNAL  = 5, /* a bug in the library: please report it */
	GRAM_FORKED    = 6  /* the process was forked after the library was loaded */
};

/* A handle of a corpus, a model, an index, components or a result. 0 is no object. */
typedef uintptr_t gram_object;

/* Callbacks and cancellation of a call. NULL stands for a struct of zeros. */
typedef struct gram_call {
	/* The call ends with GRAM_CANCELLED within a second after *cancel becomes nonzero. May be
	 * NULL. */
	const int32_t *cancel;

	/* Called by a thread of the library, by one at a time, and at least once a second during long
	 * work. total is 0 if it is unknown. May be NULL. */
	void (*progress)(void *user, const char *stage, int64_t done, int64_t total);

	/* Called with each warning. May be NULL. */
	void (*warn)(void *user, const char *warning);

	void *user; /* is passed to both callbacks */

	/* Receives the error message with a terminating 0, shortened to error_size bytes. May be NULL. */
	char   *error;
	int64_t error_size;
} gram_call;

/* Texts: text i has the bytes data[i][0] to data[i][sizes[i]-1]. */
typedef struct gram_strings {
	const char *const *data;
	const int64_t     *sizes;
	int64_t            count;
} gram_strings;

/* A matrix of documents in compressed sparse rows: row i has the value values[k] in column
 * indices[k] for offsets[i] <= k < offsets[i+1]. Columns increase within a row. If offsets and
 * indices are NULL, the matrix is dense and row-major. Indices and values of 32 bits are read in
 * place, without a copy. */
typedef struct gram_matrix {
	int64_t     rows, columns;
	const void *offsets; /* rows+1 of int32_t or int64_t */
	const void *indices; /* stored of int32_t or int64_t */
	const void *values;  /* stored of float or double */
	int64_t     stored;  /* number of values: rows*columns if dense */
	int32_t     offset_bits, index_bits, value_bits; /* 32 or 64 each */
} gram_matrix;

/* A table with columns->count columns and one field per row in each. Column j is texts[j], or
 * numbers[j] if texts[j] is NULL. Empty texts and NaN are missing values. kinds[j] is text, number,
 * category, vector (lists of numbers, such as [0.5,-1]), id or ignore. If it is empty, or if kinds is
 * NULL, gram_predict and gram_explain use the kinds of the model, and other functions infer the kind. */
typedef struct gram_table {
	const gram_strings        *columns; /* names */
	const gram_strings        *kinds;
	const gram_strings *const *texts;
	const double *const       *numbers;
	int64_t                    rows;
} gram_table;

/* Documents: one of corpus, matrix, texts, table and terms. The others are 0 or NULL. */
typedef struct gram_documents {
	gram_object         corpus; /* from gram_corpus or gram_read */
	const gram_matrix  *matrix;
	const gram_strings *texts;
	const gram_table   *table;

	/* Terms of the caller's own tokenizer: document i has the terms term_offsets[i] to
	 * term_offsets[i+1]-1. There are documents+1 offsets. */
	const gram_strings *terms;
	const int64_t      *term_offsets;
	int64_t             documents;

	/* Classes, for training: labels[k] is an index into classes. Document i has the labels
	 * label_offsets[i] to label_offsets[i+1]-1: any number of them. If label_offsets is NULL, it
	 * has labels[i], or none if labels[i] is negative. The model has the classes in this order,
	 * without classes that no document has. For regression, targets takes the place of labels; a
	 * corpus has them as classes named by their numbers. If corpus is set, its own labels are used,
	 * and these are ignored. */
	const gram_strings *classes;
	const int32_t      *labels;
	const int64_t      *label_offsets;
	int64_t             label_count;
	const double       *targets;
	int64_t             target_count;

	/* weights[i] multiplies C for document i. If NULL, all are 1. */
	const double *weights;
	int64_t       weight_count;

	/* Documents with equal groups[i] are in the same fold. If NULL, the groups of the corpus are
	 * used, if it has any. */
	const int64_t *groups;
	int64_t        group_count;
} gram_documents;

/* Returns the version of the library, such as "1.0.0". The string is static. */
const char *gram_version(void);

/* Frees an object. 0 is allowed. Calls in progress that use the object continue. */
int32_t gram_free(gram_object object, const gram_call *call);

/* ---- Documents ------------------------------------------------------------------------------- */

/* Reads a file or folder as gram does. Options: format, min_df, max_df, tokenizer, encoding,
 * strict, label_column, text_column, id_column, columns, group_column, labels, signed, zero_based
 * ("true" or "false"), vocabulary (an array), keep_texts. */
int32_t gram_read(const char *source, int64_t source_size, const char *options, int64_t options_size,
                  gram_object *corpus, const gram_call *call);

/* Makes a corpus, which several calls can use: texts are tokenised once. Options: min_df, max_df,
 * tokenizer, vocabulary, keep_texts (so that training can choose other terms). For its arrays see
 * gram_array. */
int32_t gram_corpus(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *corpus, const gram_call *call);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Writes kernel values, row-major: K[i][j] = k(x_i, y_j), or k(x_i, x_j) if y is NULL. Options:
 * kernel. */
int32_t gram_gram(const gram_documents *x, const gram_documents *y, const char *options, int64_t options_size,
                  float *out, int64_t out_count, const gram_call *call);

/* Writes the k documents with the largest kernel values for each document of x, in descending
 * order: documents of the set of or, if that is NULL, the other documents of x. out_documents and
 * out_values have k elements per document; if there are fewer neighbours, the rest is -1 and 0.
 * Options: kernel (default bhattacharyya), min. */
int32_t gram_neighbours(const gram_documents *x, const gram_documents *of, const char *options, int64_t options_size,
                        int64_t k, int64_t *out_documents, float *out_values, int64_t out_count,
                        const gram_call *call);

/* Writes the number of each document's group of duplicates, or -1 if it has none. Groups are
 * numbered from 0 in the order of their first documents. All documents of a group are within the
 * distance of the first. Options: within, embedding. */
int32_t gram_duplicates(const gram_documents *x, const char *options, int64_t options_size,
                        int64_t *out_groups, int64_t out_count, const gram_call *call);

/* ---- Models ---------------------------------------------------------------------------------- */

/* Trains a model. Options: type, kernel, embedding, scheme, c, nu, epsilon, weights (an object by
 * class), balanced, probabilities, reject, thresholds, tolerance, seed, choose_work, terms (such as
 * "words:1..2 + chars:2..5"). */
int32_t gram_train(const gram_documents *x, const char *options, int64_t options_size,
                   gram_object *model, const gram_call *call);

/* Cross-validates. Options: those of gram_train, and folds. The result's "json" has "measure" (its
 * name), "mean", "sd" and "se" over the folds, "fold_scores", and "score" (measures over all
 * documents). */
int32_t gram_cross_validate(const gram_documents *x, const char *options, int64_t options_size,
                            gram_object *result, const gram_call *call);

/* Searches for the best kernel and parameters by cross-validation on shared tiles. Options: those
 * of gram_train, folds, and grid (an object with arrays of strings). The result's "json" has
 * "points", each with its "options" for gram_train, "mean", "sd", "se", "fold_scores" and "to_best"
 * ("mean" and "se" of the difference to the best point); "best" (index of the best point, or -1);
 * and "train" (the options of the best point). */
int32_t gram_search(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *result, const gram_call *call);

/* Predicts documents. Options: novelty (true or false). For the arrays of the result see
 * gram_array. */
int32_t gram_predict(gram_object model, const gram_documents *x, const char *options, int64_t options_size,
                     gram_object *predictions, const gram_call *call);

/* Explains the prediction for document i of x by the given number of terms and support vectors with
 * the largest effects. The result's "json" has "label", "against", "value", "terms" (each with
 * "term", "count", "effect" and, for support vector machines, "slope"), "columns" (for a table:
 * each with "column", "value" and "effect") and "support_vectors" (each with "document", from 1,
 * "class", "kernel" and "effect"). If x is NULL, it lists the strongest terms of each class: "rows"
 * by decision function, each with "class", "against", "terms_for" and "terms_against" ("term" and
 * "weight"). */
int32_t gram_explain(gram_object model, const gram_documents *x, int64_t i, int64_t terms,
                     gram_object *result, const gram_call *call);

/* ---- Components ------------------------------------------------------------------------------ */

/* Computes principal components of documents in a kernel's feature space. Options: kernel,
 * components, tolerance, seed, landmarks. For the arrays of the result see gram_array. */
int32_t gram_pca(const gram_documents *x, const char *options, int64_t options_size,
                 gram_object *components, const gram_call *call);

/* Writes the coordinates of documents: documents x components, row-major. */
int32_t gram_project(gram_object components, const gram_documents *x, const char *options, int64_t options_size,
                     double *out, int64_t out_count, const gram_call *call);

/* ---- Indexes --------------------------------------------------------------------------------- */

/* Makes an index of texts, to which documents can be added and from which they can be removed.
 * Options: tokenizer, embedding. */
int32_t gram_index(const gram_strings *texts, const char *options, int64_t options_size,
                   gram_object *index, const gram_call *call);

/* Adds texts. out_numbers receives their numbers. */
int32_t gram_index_add(gram_object index, const gram_strings *texts, int64_t *out_numbers, int64_t out_count,
                       const gram_call *call);
int32_t gram_index_remove(gram_object index, const int64_t *numbers, int64_t count, const gram_call *call);

/* Finds the nearest documents of each text. Options: k and within; at least one is required. The
 * result has the arrays "offsets", "documents" and "distances": text i has the elements offsets[i]
 * to offsets[i+1]-1. */
int32_t gram_index_query(gram_object index, const gram_strings *texts, const char *options, int64_t options_size,
                         gram_object *result, const gram_call *call);

/* Recomputes the term weights from the current documents. */
int32_t gram_index_refit(gram_object index, const gram_call *call);

/* ---- All objects ----------------------------------------------------------------------------- */

/* Loads a model or an index from a file, such as a file of gram. */
int32_t gram_load(const char *path, int64_t path_size, gram_object *object, const gram_call *call);

/* Loads a model or an index from the contents of a file. */
int32_t gram_load_bytes(const void *bytes, int64_t size, gram_object *object, const gram_call *call);

/* Saves a model or an index atomically: on failure the file is unchanged. The array "bytes" has the
 * same contents. */
int32_t gram_save(gram_object object, const char *path, int64_t path_size, const gram_call *call);

enum { GRAM_BYTES = 0, GRAM_INT32 = 1, GRAM_INT64 = 2, GRAM_FLOAT = 3, GRAM_DOUBLE = 4 };

/* An array of an object: rows x columns numbers, row-major. */
typedef struct gram_view {
	const void *data;
	int64_t     rows, columns;
	int32_t     type;
} gram_view;

/*
 * Returns an array of an object. The memory belongs to the library, and is valid until the object
 * is freed. rows is 0 if the object lacks the array, such as probabilities of a model without them.
 * The arrays are
 *
 *   all objects   "json" bytes: a JSON object that describes the object. Its "kind" is corpus, model,
 *                 index, predictions, components, validation, search, explanation or matches.
 *                 Numbers that aren't finite are null
 *   corpus        "offsets" int64, "indices" int32, "values" float: compressed sparse rows
 *                 "labels" int32: first label by document, an index into "classes" of "json", or -1
 *   model, index  "bytes" bytes: contents of the file that gram_save writes
 *   model         "support" int32: training documents that are support vectors
 *                 "coefficients" double: decision functions x support
 *                 "offsets" double, by decision function:
 *                 f(x) = sum of coefficient * k(support, x), minus offset
 *                 "weights" double, decision functions x "columns" int64: of models that are linear
 *                 in the embedded documents
 *   corpus, model "vocabulary" bytes: the terms of the columns, concatenated. Term j has the bytes
 *                 "vocabulary_offsets"[j] to "vocabulary_offsets"[j+1]-1, int64. Vectors have
 *                 neither array
 *   predictions   "labels" int32 with "label_offsets" int64: indices into "classes" of "json", which
 *                 has the model's classes and further labels, such as ?, or 1 and -1
 *                 "seconds" int32: second class; "margins" double: decision value against it
 *                 "values", "nearest", "ranks" double, "rejected" int32, "known", "words" int64:
 *                 one number by document
 *                 "scores" double: documents x "decision_functions" of "json"
 *                 "probabilities" double: documents x classes of the model
 *   components    "eigenvalues" double; "coordinates" double, documents x components
 *   matches       "offsets", "documents" int64, "distances" float: see gram_index_query
 *
 * "json" has the keys
 *
 *   corpus        source, documents, columns, stored, text (true for terms, false for vectors),
 *                 texts_kept, tokenizer, table (columns of a table, each with "name" and "kind"),
 *                 labelled, classes
 *   model         type, kernel, embedding, scheme, c, classes, decision_functions (names), numbers
 *                 (true for regression), one_class, votes, probabilities, below (documents with a
 *                 smaller probability get no class), text, tokenizer, columns (of vectors; 0 if
 *                 unknown), vocabulary (number of terms), terms (number of terms with values in
 *                 training), table (columns of a table, each with "name" and "kind"), support,
 *                 bytes, converged, unfinished, notes, report (lines), rows (report by decision
 *                 function)
 *   index         documents; added, removed and new_terms since gram_index or gram_index_refit
 *   predictions   documents, classes, decision_functions
 *   components    documents, components, landmarks, total (sum of all eigenvalues), residual (not
 *                 covered by landmarks)
 */
int32_t gram_array(gram_object object, const char *name, int64_t name_size, gram_view *out, const gram_call *call);

#ifdef __cplusplus
}
#endif

#endif
