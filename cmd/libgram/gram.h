/*
 * Gram: kernels of information geometry on sparse documents, from C.
 *
 * Each function does what the function of the same name in the Go package gram does, and documents there say more.
 *
 * Results. A function returns GRAM_OK or one of the codes below, and then writes a sentence to call->error. What it
 * would have written elsewhere is then undefined, but for objects, which are 0.
 *
 * Memory. Pointers are read or written during the call only; nothing of the caller's memory is kept after it. Every
 * pointer has its length, and what is too short is an error. Text is UTF-8 and needs no 0 at its end.
 *
 * Objects are handles of what the library keeps. gram_free frees one; a handle that was freed is an error from then
 * on, as is one of another kind than a function expects.
 *
 * Options are a JSON object such as {"kernel": "diffusion:t=2", "workers": 2}; NULL with size 0 stands for {}. An
 * unknown key is an error that lists the known ones. Every function takes
 *
 *   isa            instruction set: generic, avx2, avx512            default: the best
 *   workers        number of threads; results don't depend on it      default: one per processor
 *   memory_bytes   what the call may hold                             default: no bound
 *
 * They say how the call runs; of gram_project and gram_index_query, whose objects keep threads and memory of their
 * own, what was said when the object was made. Functions without options run by the defaults.
 *
 * Text is cut into terms as gram does: in gram_neighbours and gram_duplicates all of them count, in other
 * functions those of two documents or more; in gram_duplicates and indexes words may hold digits. Where two sets of
 * documents are compared, the first is cut as the other, and terms that only one has count; gram_predict and
 * gram_project take the terms of the documents that the object was made of. gram_corpus has
 * options for this.
 *
 * Threads. Functions may be called from any number of threads at a time, on the same objects too. Calls of gram_predict
 * and gram_explain on a model share what the first has made ready; at the same time they hear each other's progress.
 *
 * Processes. The library starts threads when it is loaded. In a child process of fork, which has none of them, every
 * call but gram_version returns GRAM_FORKED: start processes by spawn, or load the library after the fork.
 */
#ifndef GRAM_H
#define GRAM_H

#include <stdint.h>

#define GRAM_VERSION "0.1.0" /* of this header; gram_version has that of the library */

#ifdef __cplusplus
extern "C" {
#endif

enum {
	GRAM_OK        = 0,
	GRAM_INVALID   = 1, /* an argument, an option, or the data */
	GRAM_MEMORY    = 2, /* more memory than memory_bytes allows, or than there is */
	GRAM_CANCELLED = 3, /* *call->cancel was set */
	GRAM_FILE      = 4, /* the operating system refused to read or write */
	GRAM_INTERNAL  = 5, /* a fault of the library: please report it */
	GRAM_FORKED    = 6  /* the process is a child of the one that loaded the library */
};

/* A handle of a corpus, a model, an index, components or a result; 0 is none. */
typedef uintptr_t gram_object;

/* How a call runs. NULL in place of it stands for all zeros. */
typedef struct gram_call {
	/* The call ends with GRAM_CANCELLED within a second after *cancel is no longer 0. NULL: never. */
	const int32_t *cancel;

	/* Called by a thread of the library, one at a time, at least once a second during long work. total is 0 where it
	 * isn't known. NULL: none. */
	void (*progress)(void *user, const char *stage, int64_t done, int64_t total);

	/* Called with what deserves notice but is no error. NULL: none. */
	void (*warn)(void *user, const char *warning);

	void *user; /* is passed to both */

	char   *error;      /* receives a message, cut to error_size bytes with the 0 at its end */
	int64_t error_size; /* of error, in bytes; 0: no message */
} gram_call;

/* Texts: count of them, text i in data[i][0 … sizes[i]-1]. */
typedef struct gram_strings {
	const char *const *data;
	const int64_t     *sizes;
	int64_t            count;
} gram_strings;

/* A matrix of documents in compressed sparse rows: row i has the values[k] in the columns indices[k] for
 * offsets[i] <= k < offsets[i+1]. Columns increase within a row. With offsets and indices NULL the matrix is dense,
 * row-major. Indices of 32 bits with values of 32 bits are read in place, without a copy. */
typedef struct gram_matrix {
	int64_t     rows, columns;
	const void *offsets; /* rows+1 of int32_t or int64_t */
	const void *indices; /* stored of int32_t or int64_t */
	const void *values;  /* stored of float or double */
	int64_t     stored;  /* number of values: rows*columns where dense */
	int32_t     offset_bits, index_bits, value_bits; /* 32 or 64 each */
} gram_matrix;

/* A table: columns->count columns with rows fields each. Column j is texts[j], or numbers[j] if texts[j] is NULL. An
 * empty text and NaN are missing values. kinds[j] is text, number, category, id or ignore; where it is empty, or where
 * kinds is NULL, the kind is inferred as gram does. gram_predict and gram_explain take the kinds of the model. */
typedef struct gram_table {
	const gram_strings        *columns; /* names */
	const gram_strings        *kinds;
	const gram_strings *const *texts;
	const double *const       *numbers;
	int64_t                    rows;
} gram_table;

/* Documents, as an argument: one of corpus, matrix, texts, table and terms, the others 0 or NULL. */
typedef struct gram_documents {
	gram_object         corpus; /* from gram_corpus or gram_read */
	const gram_matrix  *matrix;
	const gram_strings *texts;
	const gram_table   *table;

	/* Terms that the caller's own tokenizer found: document i has those from term_offsets[i] up to, not including,
	 * term_offsets[i+1]; there are documents+1 offsets. */
	const gram_strings *terms;
	const int64_t      *term_offsets;
	int64_t             documents;

	/* Labels, where something is learnt: of numbers, targets; of classes, labels. labels[k] is an index into classes;
	 * document i has the labels from label_offsets[i] up to label_offsets[i+1], none, one or several. With
	 * label_offsets NULL it has labels[i], below 0 for none. A corpus has labels of its own; these are then ignored.
	 * Classes are in the order in which the model has them; those of no document are left out. Targets are kept as
	 * classes that are called by their number. */
	const gram_strings *classes;
	const int32_t      *labels;
	const int64_t      *label_offsets;
	int64_t             label_count;
	const double       *targets;
	int64_t             target_count;

	/* weights[i] multiplies the price of document i's errors; NULL: 1 each. */
	const double *weights;
	int64_t       weight_count;

	/* Documents with equal groups[i] are in the same fold; NULL: each for itself, or the groups of the corpus. */
	const int64_t *groups;
	int64_t        group_count;
} gram_documents;

/* The version of the library, such as "1.0.0". It isn't freed. */
const char *gram_version(void);

/* Frees an object. 0 is allowed. It waits for no call: one that is under way on the object goes on. */
int32_t gram_free(gram_object object, const gram_call *call);

/* ---- Documents -------------------------------------------------------------------------------------------------- */

/* Reads a file or folder, as gram does. Options: format, min_df, max_df, tokenizer, encoding, strict,
 * label_column, text_column, id_column, columns, group_column, labels, signed, zero_based ("true"
 * or "false"), vocabulary (an array), keep_texts. */
int32_t gram_read(const char *source, int64_t source_size, const char *options, int64_t options_size,
                  gram_object *corpus, const gram_call *call);

/* Makes a corpus of documents, so that several calls share it: text is cut into terms once. Options: min_df, max_df,
 * tokenizer, vocabulary, keep_texts. Arrays: those of a corpus, see gram_array. */
int32_t gram_corpus(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *corpus, const gram_call *call);

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

/* Writes kernel values: with y NULL the symmetric matrix K[i][j] = k(x_i, x_j), else those of the rows x and the
 * columns y; row-major, x's documents times y's. Options: kernel. */
int32_t gram_gram(const gram_documents *x, const gram_documents *y, const char *options, int64_t options_size,
                  float *out, int64_t out_count, const gram_call *call);

/* Writes the k documents of the greatest kernel value for each document of x, the greatest first: among the others of
 * x where of is NULL, else among of's. out_documents and out_values have k places a document; where there are fewer
 * the rest is -1 and 0. Options: kernel (default bhattacharyya), min. */
int32_t gram_neighbours(const gram_documents *x, const gram_documents *of, const char *options, int64_t options_size,
                        int64_t k, int64_t *out_documents, float *out_values, int64_t out_count,
                        const gram_call *call);

/* Writes for each document the number of its group of duplicates, from 0 in the order of their first documents, or
 * -1. The first document of a group is kept, and the others are within the bound of it. Options: within, embedding. */
int32_t gram_duplicates(const gram_documents *x, const char *options, int64_t options_size,
                        int64_t *out_groups, int64_t out_count, const gram_call *call);

/* ---- Models ----------------------------------------------------------------------------------------------------- */

/* Trains a model. Options: type, kernel, embedding, scheme, c, nu, epsilon, weights (an object by class), balanced,
 * probabilities, reject, thresholds, tolerance, seed, choose_work, terms (such as "words:1..2 + chars:2..5"). */
int32_t gram_train(const gram_documents *x, const char *options, int64_t options_size,
                   gram_object *model, const gram_call *call);

/* Cross-validates. Options: those of gram_train, folds. The result has "json": "measure" by which it is judged, its
 * "mean", "sd" and "se" over the folds, "fold_scores", "score" of all documents together. */
int32_t gram_cross_validate(const gram_documents *x, const char *options, int64_t options_size,
                            gram_object *result, const gram_call *call);

/* Searches for the best kernel and parameters on shared tiles. Options: those of gram_train, folds, grid (an object of
 * arrays of strings). The result has "json": "points" with their "options" for gram_train, "mean", "sd", "se",
 * "fold_scores" and "to_best" ("mean" and "se" of the difference to the best); "best" is one of them, from 0, or -1;
 * "train" has its options. */
int32_t gram_search(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *result, const gram_call *call);

/* Predicts documents. Options: novelty (true or false). The result is predictions, see gram_array. */
int32_t gram_predict(gram_object model, const gram_documents *x, const char *options, int64_t options_size,
                     gram_object *predictions, const gram_call *call);

/* Says why the model predicts what it does of document i of x: the given number of terms and support vectors that
 * count most. With x NULL, which terms speak most for each class. The result has "json": "label", "against", "value",
 * "terms" (each with "term", "count", "effect" and, of support vector machines, "slope") and "support_vectors" (with
 * "document", from 1, "class", "kernel", "effect"); with x NULL "rows", by machine: "class", "against", "terms_for" and
 * "terms_against" (each with "term" and "weight"). */
int32_t gram_explain(gram_object model, const gram_documents *x, int64_t i, int64_t terms,
                     gram_object *result, const gram_call *call);

/* ---- Components ------------------------------------------------------------------------------------------------- */

/* Finds principal components of documents in a kernel's feature space. Options: kernel, components, tolerance, seed,
 * landmarks. Arrays: see gram_array. */
int32_t gram_pca(const gram_documents *x, const char *options, int64_t options_size,
                 gram_object *components, const gram_call *call);

/* Writes coordinates of documents along the components, row-major. */
int32_t gram_project(gram_object components, const gram_documents *x, const char *options, int64_t options_size,
                     double *out, int64_t out_count, const gram_call *call);

/* ---- Indexes ---------------------------------------------------------------------------------------------------- */

/* Makes an index of texts, which finds the nearest documents while documents come and go. Options: tokenizer,
 * embedding. */
int32_t gram_index(const gram_strings *texts, const char *options, int64_t options_size,
                   gram_object *index, const gram_call *call);

/* Adds texts; out_numbers receives theirs. */
int32_t gram_index_add(gram_object index, const gram_strings *texts, int64_t *out_numbers, int64_t out_count,
                       const gram_call *call);
int32_t gram_index_remove(gram_object index, const int64_t *numbers, int64_t count, const gram_call *call);

/* Finds the documents nearest to each text. Options: k, within, of which one must be given. The result has the arrays
 * "offsets", "documents" and "distances": text i has those from offsets[i] up to offsets[i+1]. */
int32_t gram_index_query(gram_object index, const gram_strings *texts, const char *options, int64_t options_size,
                         gram_object *result, const gram_call *call);

/* Weighs terms anew by the documents that are there now. */
int32_t gram_index_refit(gram_object index, const gram_call *call);

/* ---- All objects ------------------------------------------------------------------------------------------------ */

/* Loads a model, or an index, from a file: those of gram, too. */
int32_t gram_load(const char *path, int64_t path_size, gram_object *object, const gram_call *call);

/* Loads a model, or an index, from the bytes of such a file. */
int32_t gram_load_bytes(const void *bytes, int64_t size, gram_object *object, const gram_call *call);

/* Saves a model or an index. The file is what it was before, or whole. gram_array(…, "bytes", …) has the same bytes. */
int32_t gram_save(gram_object object, const char *path, int64_t path_size, const gram_call *call);

enum { GRAM_BYTES = 0, GRAM_INT32 = 1, GRAM_INT64 = 2, GRAM_FLOAT = 3, GRAM_DOUBLE = 4 };

/* An array of an object: rows*columns numbers, row-major. */
typedef struct gram_view {
	const void *data;
	int64_t     rows, columns;
	int32_t     type;
} gram_view;

/*
 * Returns an array of an object. Its memory is the library's, and stays until gram_free frees the object; rows is 0 of
 * an array that the object doesn't have because of what it is, such as probabilities of a model without them. Names:
 *
 *   every object  "json"        bytes: what the object is and says, a JSON object; its "kind" is corpus, model, index,
 *                               predictions, components, validation, search, explanation or matches; numbers that
 *                               aren't finite are null
 *   corpus        "offsets" int64, "indices" int32, "values" float; "labels" int32, the first of each, -1 for none,
 *                 into the "classes" of "json"
 *   model, index  "bytes"       bytes: as gram_save writes them
 *   model         "support" int32, the training documents; "coefficients" double, machines × support; "offsets"
 *                 double, by machine: f(x) = Σ coefficient·k(support, x) − offset (of support vector machines);
 *                 "weights" double, machines × "columns" int64, of the documents (of those that are linear in these)
 *   corpus, model "vocabulary"  bytes: the terms of the columns, one after the other; term j lies from
 *                               "vocabulary_offsets"[j] up to "vocabulary_offsets"[j+1], int64; of vectors neither
 *   predictions   "labels" int32 with "label_offsets" int64, into the "classes" of "json": the model's, and what it
 *                 says besides, such as ? or 1 and -1 of one class; "seconds" int32, the classes that come second, by
 *                 "margins" double; "values", "nearest", "ranks" double, "rejected" int32, "known", "words" int64, by
 *                 document; "scores" double by the "machines" of "json", "probabilities" double by the model's classes
 *   components    "eigenvalues" double; "coordinates" double, documents × components
 *   matches       "offsets", "documents" int64, "distances" float: of gram_index_query
 *
 * "json" has
 *
 *   corpus        source, documents, columns, stored, text (it has terms, else vectors), texts_kept, tokenizer,
 *                 table (its columns, each with "name" and "kind"), labelled, classes, warnings
 *   model         type, kernel, embedding, scheme, c, classes, machines (the names of decision values), numbers
 *                 (regression), one_class, votes, probabilities, below (documents of a smaller probability get no
 *                 class), text, tokenizer, columns (of vectors; 0 if unknown), vocabulary (number of terms of texts),
 *                 terms (those that are known), table (columns of a model of tables, each with "name" and
 *                 "kind"), support, bytes, converged, unfinished, notes, warnings, report (lines),
 *                 rows
 *   index         documents, added, removed, new_terms: the latter three since gram_index or gram_index_refit
 *   predictions   documents, classes, machines, warnings
 *   components    documents, components, landmarks, total (of all eigenvalues), residual (what landmarks leave of it),
 *                 warnings
 */
int32_t gram_array(gram_object object, const char *name, int64_t name_size, gram_view *out, const gram_call *call);

#ifdef __cplusplus
}
#endif

#endif
