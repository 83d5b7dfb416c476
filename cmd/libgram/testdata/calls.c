/*
 * Calls every function of gram.h from C: results, every code of errors, handles that are wrong, memory that is too
 * short, cancel from another thread, eight threads at once, and no growth of memory. It says what failed, by line, and
 * exits with 1.
 *
 *	calls FOLDER ROUNDS     writes files into the folder, and looks at memory in so many rounds; 0 leaves out what
 *	                        forks, cancels, and calls from several threads, which valgrind is slow at
 *	calls FOLDER overrun    writes beyond an array, for tests of the tests
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gram.h"

static atomic_int failures;

#define FAIL(...) (atomic_fetch_add(&failures, 1), printf("line %d: ", __LINE__), printf(__VA_ARGS__), puts(""))
#define CHECK(condition) ((condition) ? (void)0 : (void)FAIL("%s", #condition))

/* Each thread has a call of its own, with a message that is fenced. */
static _Thread_local char message[300];
static _Thread_local gram_call call;

static const gram_call *fresh(void)
{
	memset(message, 'x', sizeof message);
	call = (gram_call){.error = message, .error_size = sizeof message - 1};
	return &call;
}

static void expect(int line, int32_t want, const char *words, int32_t found)
{
	if (found != want || (want != GRAM_OK && strstr(message, words) == NULL)) {
		atomic_fetch_add(&failures, 1);
		printf("line %d: code %d, expected %d: %.299s; expected %s\n", line, found, want,
		       found == GRAM_OK ? "" : message, words);
	}
	if (message[sizeof message - 1] != 'x') {
		atomic_fetch_add(&failures, 1);
		printf("line %d: a byte after the message is written\n", line);
	}
}

#define OK(function) expect(__LINE__, GRAM_OK, "", function)
#define INVALID(words, function) expect(__LINE__, GRAM_INVALID, words, function)

#define TEXT(text) (text), (int64_t)strlen(text)
#define NONE NULL, 0
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- Documents -------------------------------------------------------------------------------------------------- */

enum { documents = 24, terms_each = 4, stored = 3 * documents, columns = 8, pairs = documents * documents };

/* Memory of its own for each array, so that valgrind sees what is read or written beyond its end. */
#define NEW(count, of) ((of) = calloc((size_t)(count), sizeof *(of)))

static const char *const words[] = {
	"red apple pie sweet", "green apple tart sweet", "red car engine loud", "green car wheel loud",
	"apple pie tart sugar", "car engine wheel road", "apple tart sugar red", "car wheel road green",
};
static const char **texts_data;
static int64_t *texts_sizes;
static gram_strings texts;

static const char *const class_names[] = {"food", "cars"};
static const int64_t class_sizes[] = {4, 4};
static const gram_strings classes = {class_names, class_sizes, 2};
static int32_t *labels;

static const char **term_data;
static int64_t *term_sizes, *term_offsets;
static gram_strings terms;

static int64_t *offsets64, *indices64;
static int32_t *offsets32, *indices32;
static float *values32, *dense;
static double *values64, *targets;
static gram_matrix matrix, wide_matrix, dense_matrix;
static const char *const table_names[] = {"subject", "size"}, *const table_kinds[] = {"", "category"};
static const gram_strings table_columns = {table_names, (const int64_t[]){7, 4}, 2};
static const gram_strings given_kinds = {table_kinds, (const int64_t[]){0, 8}, 2};
static const gram_strings *table_texts[] = {&texts, NULL};
static const double *table_numbers[2];
static gram_table table = {&table_columns, NULL, table_texts, table_numbers, documents};
static gram_documents from_table, from_texts, from_terms, from_matrix, from_wide, from_dense, from_targets;

static void make_documents(void)
{
	NEW(documents, texts_data), NEW(documents, texts_sizes), NEW(documents, labels), NEW(documents, targets);
	NEW(documents * terms_each, term_data), NEW(documents * terms_each, term_sizes), NEW(documents + 1, term_offsets);
	NEW(documents + 1, offsets64), NEW(documents + 1, offsets32), NEW(stored, indices64), NEW(stored, indices32);
	NEW(stored, values32), NEW(stored, values64), NEW(documents * columns, dense);
	for (int i = 0; i < documents; i++) {
		texts_data[i] = words[i % 8];
		texts_sizes[i] = (int64_t)strlen(words[i % 8]);
		labels[i] = i % 8 == 2 || i % 8 == 3 || i % 8 == 5 || i % 8 == 7;
		targets[i] = labels[i] + 0.1 * (i % 3);
		term_offsets[i + 1] = (i + 1) * terms_each;
		const char *at = words[i % 8];
		for (int k = 0; k < terms_each; k++) {
			term_data[i * terms_each + k] = at;
			term_sizes[i * terms_each + k] = (int64_t)strcspn(at, " ");
			at += strcspn(at, " ") + 1;
		}
		offsets32[i + 1] = (int32_t)(offsets64[i + 1] = (i + 1) * 3);
		for (int k = 0; k < 3; k++) {
			int column = 4 * labels[i] + k + (k > (i % 4));
			indices32[3 * i + k] = column;
			indices64[3 * i + k] = column;
			values32[3 * i + k] = (float)(1 + (i + k) % 3);
			values64[3 * i + k] = values32[3 * i + k];
			dense[columns * i + column] = values32[3 * i + k];
		}
	}
	texts = (gram_strings){texts_data, texts_sizes, documents};
	terms = (gram_strings){term_data, term_sizes, documents * terms_each};
	matrix = (gram_matrix){documents, columns, offsets64, indices32, values32, stored, 64, 32, 32};
	wide_matrix = (gram_matrix){documents, columns, offsets32, indices64, values64, stored, 32, 64, 64};
	dense_matrix = (gram_matrix){documents, columns, NULL, NULL, dense, documents * columns, 0, 0, 32};
	from_texts = (gram_documents){.texts = &texts, .classes = &classes, .labels = labels, .label_count = documents};
	table_numbers[1] = targets;
	from_table = from_texts;
	from_table.texts = NULL;
	from_table.table = &table;
	from_terms = (gram_documents){.terms = &terms, .term_offsets = term_offsets, .documents = documents,
	                              .classes = &classes, .labels = labels, .label_count = documents};
	from_matrix = (gram_documents){.matrix = &matrix, .classes = &classes, .labels = labels, .label_count = documents};
	from_wide = from_dense = from_matrix;
	from_wide.matrix = &wide_matrix;
	from_dense.matrix = &dense_matrix;
	from_targets = (gram_documents){.matrix = &matrix, .targets = targets, .target_count = documents};
}

/* The array of an object, whose type and shape are checked; -1 rows or columns stand for any. */
static const void *array_at(int line, gram_object object, const char *name, int32_t type, int64_t rows, int64_t columns)
{
	gram_view view = {NULL, 7, 7, 7}, again;
	char passed[64];
	const int64_t size = (int64_t)strlen(name);
	memcpy(passed, name, (size_t)size);
	expect(line, GRAM_OK, "", gram_array(object, passed, size, &view, fresh()));
	memset(passed, '?', sizeof passed); /* the library keeps nothing of it */
	expect(line, GRAM_OK, "", gram_array(object, TEXT(name), &again, fresh()));
	if (view.type != type || (rows >= 0 && view.rows != rows) || (columns >= 0 && view.columns != columns)) {
		atomic_fetch_add(&failures, 1);
		printf("line %d: %s has %lld rows and %lld columns of type %d\n", line, name, (long long)view.rows,
		       (long long)view.columns, (int)view.type);
	}
	if (view.data != again.data) {
		atomic_fetch_add(&failures, 1);
		printf("line %d: %s has moved\n", line, name);
	}
	return view.data;
}

#define ARRAY(...) array_at(__LINE__, __VA_ARGS__)

static void has(int line, gram_object object, const char *part)
{
	gram_view view = {NULL, 0, 0, 0};
	expect(line, GRAM_OK, "", gram_array(object, TEXT("json"), &view, fresh()));
	if (memmem(view.data, (size_t)view.rows, part, strlen(part)) == NULL) {
		atomic_fetch_add(&failures, 1);
		printf("line %d: %.*s lacks %s\n", line, (int)view.rows, (const char *)view.data, part);
	}
}

#define HAS(object, part) has(__LINE__, object, part)

static void release(gram_object *objects, int count)
{
	for (int i = 0; i < count; i++)
		OK(gram_free(objects[i], fresh()));
}

/* ---- Functions -------------------------------------------------------------------------------------------------- */

static void kernels(void)
{
	float *a, *b;
	NEW(pairs, a), NEW(pairs, b);
	const gram_documents *matrices[] = {&from_wide, &from_dense, &from_matrix};
	OK(gram_gram(&from_matrix, NULL, TEXT("{\"kernel\": \"diffusion:t=2\"}"), a, pairs, fresh()));
	for (int i = 0; i < documents; i++) {
		CHECK(a[i * documents + i] == 1);
		for (int j = 0; j < i; j++)
			CHECK(a[i * documents + j] == a[j * documents + i]);
	}
	for (int k = 0; k < 3; k++) {
		memset(b, 0xff, pairs * sizeof *b);
		OK(gram_gram(matrices[k], NULL, TEXT("{\"kernel\":\"diffusion:t=2\",\"workers\":3}"), b, pairs, fresh()));
		CHECK(memcmp(a, b, pairs * sizeof *a) == 0);
	}
	OK(gram_gram(&from_matrix, &from_wide, TEXT("{\"kernel\": \"diffusion:t=2\"}"), b, pairs, fresh()));
	CHECK(memcmp(a, b, pairs * sizeof *a) == 0);
	OK(gram_gram(&from_texts, NULL, NONE, a, pairs, fresh()));
	OK(gram_gram(&from_terms, NULL, NONE, b, pairs, NULL));
	CHECK(memcmp(a, b, pairs * sizeof *a) == 0);

	int64_t *near, *groups;
	float *values;
	NEW(documents * 30, near), NEW(documents * 30, values), NEW(documents, groups);
	OK(gram_neighbours(&from_texts, NULL, NONE, 30, near, values, documents * 30, fresh()));
	CHECK(near[0] == 8 && near[1] == 16 && values[0] == values[1]);
	CHECK(near[22] >= 0 && near[23] == -1 && values[23] == 0 && near[29] == -1);
	OK(gram_neighbours(&from_texts, &from_texts, TEXT("{\"min\": 0.9}"), 3, near, values, documents * 3, fresh()));
	CHECK(near[0] == 0 && near[1] == 8 && near[2] == 16 && near[3] == 1);
	OK(gram_duplicates(&from_texts, TEXT("{\"within\": 0.01}"), groups, documents, fresh()));
	for (int i = 0; i < documents; i++)
		CHECK(groups[i] == i % 8);
	free(a), free(b), free(near), free(values), free(groups);
}

static void corpora(const char *folder)
{
	gram_object c[4] = {1, 1, 1, 1};
	char path[1000];
	OK(gram_corpus(&from_matrix, NONE, &c[0], fresh()));
	const int64_t *offsets = ARRAY(c[0], "offsets", GRAM_INT64, documents + 1, 1);
	const int32_t *indices = ARRAY(c[0], "indices", GRAM_INT32, stored, 1);
	const float *values = ARRAY(c[0], "values", GRAM_FLOAT, documents * 3, 1);
	const int32_t *own = ARRAY(c[0], "labels", GRAM_INT32, documents, 1);
	CHECK(memcmp(offsets, offsets64, 8 * (documents + 1)) == 0 && memcmp(indices, indices32, 4 * stored) == 0);
	CHECK(memcmp(values, values32, 4 * stored) == 0 && memcmp(own, labels, 4 * documents) == 0);
	CHECK((const void *)values != (const void *)values32);
	ARRAY(c[0], "vocabulary", GRAM_BYTES, 0, -1);

	OK(gram_corpus(&from_texts, TEXT("{\"min_df\": 1, \"keep_texts\": true, \"tokenizer\": \"words:1..2\"}"), &c[1],
	               fresh()));
	HAS(c[1], "\"texts_kept\":true");
	OK(gram_corpus(&from_terms, NONE, &c[2], fresh()));
	const char *vocabulary = ARRAY(c[2], "vocabulary", GRAM_BYTES, -1, 1);
	const int64_t *at = ARRAY(c[2], "vocabulary_offsets", GRAM_INT64, -1, 1);
	CHECK(at[0] == 0 && at[1] == 5 && memcmp(vocabulary, "applecar", 8) == 0);

	snprintf(path, sizeof path, "%s/in.tsv", folder);
	FILE *f = fopen(path, "w");
	for (int i = 0; i < documents; i++)
		fprintf(f, "%s\t%s\n", class_names[labels[i]], texts_data[i]);
	fclose(f);
	OK(gram_read(TEXT(path), TEXT("{\"format\": null, \"min_df\": 1}"), &c[3], fresh()));
	HAS(c[3], "\"documents\":24");
	HAS(c[3], "\"kind\":\"corpus\"");
	release(c, 4);
}

/* Trains on documents and predicts them, and says whether most are right. */
static gram_object trained(int line, const gram_documents *x, const char *options, int64_t *right)
{
	gram_object model = 0, found = 0;
	expect(line, GRAM_OK, "", gram_train(x, TEXT(options), &model, fresh()));
	expect(line, GRAM_OK, "", gram_predict(model, x, NONE, &found, fresh()));
	const int64_t *offsets = ARRAY(found, "label_offsets", GRAM_INT64, documents + 1, 1);
	const int32_t *own = ARRAY(found, "labels", GRAM_INT32, -1, 1);
	*right = 0;
	for (int i = 0; offsets != NULL && i < documents; i++)
		*right += offsets[i + 1] == offsets[i] + 1 && own[offsets[i]] == labels[i];
	OK(gram_free(found, fresh()));
	return model;
}

static void models(const char *folder)
{
	static const char *const types[] = {
		"{}", "{\"type\": \"linear\"}", "{\"type\": \"knn:k=3\"}", "{\"type\": \"landmark\"}", "{\"type\": \"logistic\"}",
		"{\"kernel\": \"linear\", \"c\": 2, \"weights\": {\"food\": 2}, \"probabilities\": true}",
	};
	const gram_documents *all[] = {&from_texts, &from_table, &from_terms, &from_matrix, &from_wide, &from_dense};
	int64_t right;
	for (int t = 0; t < COUNT(types); t++)
		for (int k = 0; k < COUNT(all); k++) {
			gram_object model = trained(__LINE__, all[k], types[t], &right);
			CHECK(right >= documents - 2);
			OK(gram_free(model, fresh()));
		}

	gram_object o[8] = {0};
	char path[1000];
	o[0] = trained(__LINE__, &from_matrix, types[5], &right);
	ARRAY(o[0], "support", GRAM_INT32, -1, 1);
	ARRAY(o[0], "coefficients", GRAM_DOUBLE, 1, -1);
	ARRAY(o[0], "offsets", GRAM_DOUBLE, 1, 1);
	ARRAY(o[0], "weights", GRAM_DOUBLE, 1, 8);
	ARRAY(o[0], "columns", GRAM_INT64, 8, 1);
	HAS(o[0], "\"decision_functions\":[\"food/cars\"]");
	OK(gram_predict(o[0], &from_matrix, TEXT("{\"novelty\": true, \"workers\": 2}"), &o[1], fresh()));
	ARRAY(o[1], "probabilities", GRAM_DOUBLE, documents, 2);
	ARRAY(o[1], "scores", GRAM_DOUBLE, documents, 1);
	ARRAY(o[1], "margins", GRAM_DOUBLE, documents, 1);
	ARRAY(o[1], "seconds", GRAM_INT32, documents, 1);
	ARRAY(o[1], "nearest", GRAM_DOUBLE, documents, 1);
	ARRAY(o[1], "ranks", GRAM_DOUBLE, documents, 1);
	ARRAY(o[1], "known", GRAM_INT64, documents, 1);
	ARRAY(o[1], "values", GRAM_DOUBLE, 0, -1);
	HAS(o[1], "\"classes\":[\"food\",\"cars\"]");

	OK(gram_explain(o[0], &from_matrix, 3, 2, &o[2], fresh()));
	HAS(o[2], "\"support_vectors\":[{");
	OK(gram_free(o[2], fresh()));
	OK(gram_explain(o[0], NULL, 0, 2, &o[2], fresh()));
	HAS(o[2], "\"terms_for\":[{");
	INVALID("got 24", gram_explain(o[0], &from_matrix, 24, 2, &o[3], fresh()));

	OK(gram_train(&from_matrix, NONE, &o[3], fresh()));
	OK(gram_cross_validate(&from_matrix, TEXT("{\"folds\": 3}"), &o[4], fresh()));
	HAS(o[4], "\"fold_scores\":[");
	OK(gram_search(&from_matrix, TEXT("{\"grid\": {\"C\": [\"1\", \"10\"]}, \"kernel\": \"linear\", \"folds\": 3}"), &o[5],
	               fresh()));
	HAS(o[5], "\"train\":{\"c\":1");

	snprintf(path, sizeof path, "%s/model", folder);
	OK(gram_save(o[0], TEXT(path), fresh()));
	OK(gram_load(TEXT(path), &o[6], fresh()));
	gram_view saved, loaded;
	OK(gram_array(o[0], TEXT("bytes"), &saved, fresh()));
	OK(gram_array(o[6], TEXT("bytes"), &loaded, fresh()));
	CHECK(saved.rows == loaded.rows && memcmp(saved.data, loaded.data, (size_t)saved.rows) == 0);
	OK(gram_load_bytes(saved.data, saved.rows, &o[7], fresh()));
	HAS(o[7], "\"kind\":\"model\"");
	release(o, 8);

	o[0] = trained(__LINE__, &from_table, "{\"kernel\": \"linear\"}", &right);
	HAS(o[0], "\"table\":[{\"comma\":false,\"kind\":\"text\",\"name\":\"subject\"},");
	OK(gram_explain(o[0], &from_table, 3, 2, &o[1], fresh()));
	HAS(o[1], "{\"column\":\"size\",\"effect\":");
	INVALID("got 24", gram_explain(o[0], &from_table, 24, 2, &o[2], fresh()));
	table.kinds = &given_kinds;
	OK(gram_corpus(&from_table, NONE, &o[2], fresh()));
	HAS(o[2], "{\"comma\":false,\"kind\":\"category\",\"name\":\"size\"}");
	table.kinds = NULL;
	release(o, 3);

	OK(gram_train(&from_targets, TEXT("{\"type\": \"epsilon_svr\", \"kernel\": \"linear\"}"), &o[0], fresh()));
	HAS(o[0], "\"numbers\":true");
	OK(gram_predict(o[0], &from_matrix, NONE, &o[1], fresh()));
	const double *values = ARRAY(o[1], "values", GRAM_DOUBLE, documents, 1);
	for (int i = 0; values != NULL && i < documents; i++)
		CHECK(fabs(values[i] - targets[i]) < 0.5);
	ARRAY(o[1], "labels", GRAM_INT32, 0, -1);
	release(o, 2);
}

static void components(void)
{
	double *z;
	gram_object p = 0;
	NEW(documents * 2, z);
	OK(gram_pca(&from_matrix, TEXT("{\"components\": 2}"), &p, fresh()));
	ARRAY(p, "eigenvalues", GRAM_DOUBLE, 2, 1);
	const double *own = ARRAY(p, "coordinates", GRAM_DOUBLE, documents, 2);
	OK(gram_project(p, &from_matrix, NONE, z, documents * 2, fresh()));
	for (int i = 0; i < documents * 2; i++)
		CHECK(fabs(z[i] - own[i]) < 1e-4);
	INVALID("out must have length 48, got 47", gram_project(p, &from_matrix, NONE, z, documents * 2 - 1, fresh()));
	release(&p, 1);
	free(z);
}

static void indexes(const char *folder)
{
	gram_object x = 0, found = 0, again[2] = {0};
	int64_t *numbers, gone[] = {0, 8};
	char path[1000];
	NEW(documents, numbers);
	OK(gram_index(&texts, TEXT("{\"embedding\": \"tfidf-l1-sqrt\"}"), &x, fresh()));
	OK(gram_index_add(x, &texts, numbers, documents, fresh()));
	CHECK(numbers[0] == documents && numbers[documents - 1] == 2 * documents - 1);
	OK(gram_index_remove(x, gone, COUNT(gone), fresh()));
	INVALID("document 8 is not in the index", gram_index_remove(x, gone + 1, 1, fresh()));
	OK(gram_index_refit(x, fresh()));
	OK(gram_index_query(x, &texts, TEXT("{\"k\": 3}"), &found, fresh()));
	const int64_t *offsets = ARRAY(found, "offsets", GRAM_INT64, documents + 1, 1);
	const int64_t *at = ARRAY(found, "documents", GRAM_INT64, documents * 3, 1);
	const float *distances = ARRAY(found, "distances", GRAM_FLOAT, documents * 3, 1);
	CHECK(offsets[1] == 3 && at[0] == 16 && at[1] == 24 && at[2] == 32 && distances[0] == 0);
	INVALID("K must be positive", gram_index_query(x, &texts, NONE, &again[0], fresh()));
	HAS(x, "\"documents\":46");

	snprintf(path, sizeof path, "%s/index", folder);
	OK(gram_save(x, TEXT(path), fresh()));
	char nowhere[1100];
	snprintf(nowhere, sizeof nowhere, "%s/none/x", path);
	expect(__LINE__, GRAM_FILE, "cannot write x in folder", gram_save(x, TEXT(nowhere), fresh()));
	OK(gram_load(TEXT(path), &again[0], fresh()));
	gram_view bytes;
	OK(gram_array(x, TEXT("bytes"), &bytes, fresh()));
	OK(gram_load_bytes(bytes.data, bytes.rows, &again[1], fresh()));
	HAS(again[1], "\"documents\":46");
	release(again, 2);
	release(&found, 1);
	release(&x, 1);
	free(numbers);
}

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

int32_t goCall(char *name, void *call, void *arguments); /* below the functions; one that there isn't is a fault */

static void errors(const char *folder)
{
	float out[pairs];
	gram_object o = 5, other = 0;
	gram_view view;
	char path[1000], small[8] = "1234567";

	/* Codes. */
	INVALID("unknown option \"kernle\"; valid options are isa, kernel, memory_bytes, workers",
	        gram_gram(&from_matrix, NULL, TEXT("{\"kernle\": \"ngd\"}"), out, COUNT(out), fresh()));
	expect(__LINE__, GRAM_MEMORY, "needs",
	       gram_gram(&from_matrix, NULL, TEXT("{\"memory_bytes\": 100}"), out, COUNT(out), fresh()));
	int32_t yes = 1;
	fresh();
	call.cancel = &yes;
	expect(__LINE__, GRAM_CANCELLED, "canceled", gram_gram(&from_matrix, NULL, NONE, out, COUNT(out), &call));
	snprintf(path, sizeof path, "%s/none/at/all", folder);
	expect(__LINE__, GRAM_FILE, "no such file", gram_read(TEXT(path), NONE, &o, fresh()));
	CHECK(o == 0);
	expect(__LINE__, GRAM_FILE, "no such file", gram_load(TEXT(path), &o, fresh()));
	expect(__LINE__, GRAM_INTERNAL, "a fault", goCall("gram_none", (void *)fresh(), NULL));

	/* Handles. */
	OK(gram_free(0, NULL));
	INVALID("object 1000000 does not exist", gram_free(1000000, fresh()));
	OK(gram_corpus(&from_matrix, NONE, &o, fresh()));
	INVALID("must be of type model, got corpus", gram_predict(o, &from_matrix, NONE, &other, fresh()));
	INVALID("must be of type index, got corpus", gram_index_refit(o, fresh()));
	INVALID("can be saved, got a corpus", gram_save(o, TEXT(path), fresh()));
	INVALID("unknown array \"weights\" of a corpus; valid names are", gram_array(o, TEXT("weights"), &view, fresh()));
	CHECK(view.data == NULL && view.rows == 0);
	OK(gram_free(o, fresh()));
	INVALID("was freed", gram_free(o, fresh()));
	INVALID("was freed", gram_array(o, TEXT("json"), &view, fresh()));
	gram_documents freed = {.corpus = o};
	INVALID("was freed", gram_gram(&freed, NULL, NONE, out, COUNT(out), fresh()));

	/* NULL, and what is too short. */
	INVALID("documents x must not be NULL", gram_gram(NULL, NULL, NONE, out, COUNT(out), fresh()));
	INVALID("terms, got 0", gram_gram(&(gram_documents){0}, NULL, NONE, out, COUNT(out), fresh()));
	INVALID("out must not be NULL, because its length is 576", gram_gram(&from_matrix, NULL, NONE, NULL, COUNT(out), fresh()));
	INVALID("out must have length 576, got 575", gram_gram(&from_matrix, NULL, NONE, out, COUNT(out) - 1, fresh()));
	gram_strings huge = {(const char *[]){"a"}, (int64_t[]){INT64_C(1) << 62}, 1};
	INVALID("got 4611686018427387904", gram_index(&huge, NONE, &o, fresh()));
	INVALID("options must have a length between", gram_gram(&from_matrix, NULL, "{}", -1, out, COUNT(out), fresh()));
	INVALID("options must not be NULL", gram_gram(&from_matrix, NULL, NULL, 2, out, COUNT(out), fresh()));
	INVALID("NULL for the object", gram_train(&from_matrix, NONE, NULL, fresh()));
	INVALID("NULL for the array", gram_array(o, TEXT("json"), NULL, fresh()));
	INVALID("texts must not be NULL", gram_index(NULL, NONE, &o, fresh()));
	gram_table short_table = table, no_numbers = table, wide_kinds = table;
	short_table.rows--;
	INVALID("column subject must have length 23, got 24",
	        gram_corpus(&(gram_documents){.table = &short_table}, NONE, &o, fresh()));
	no_numbers.numbers = (const double *[2]){NULL, NULL};
	INVALID("column size must not be NULL", gram_corpus(&(gram_documents){.table = &no_numbers}, NONE, &o, fresh()));
	wide_kinds.kinds = &texts;
	INVALID("kinds must have length 2, got 24",
	        gram_corpus(&(gram_documents){.table = &wide_kinds}, NONE, &o, fresh()));
	INVALID("sizes of texts must not be NULL", gram_index(&(gram_strings){texts_data, NULL, 2}, NONE, &o, fresh()));
	INVALID("bytes must not be NULL", gram_load_bytes(NULL, 3, &o, fresh()));
	INVALID("must begin with", gram_load_bytes("abc", 3, &o, fresh()));
	INVALID("out_documents must not be NULL", gram_neighbours(&from_matrix, NULL, NONE, 1, NULL, out, documents, fresh()));
	INVALID("k must be between 1", gram_neighbours(&from_matrix, NULL, NONE, 0, NULL, out, 0, fresh()));
	INVALID("out_groups must have length 24, got 3", gram_duplicates(&from_matrix, NONE, (int64_t[3]){0}, 3, fresh()));

	/* Matrices and labels. */
	float bad_values[stored];
	memcpy(bad_values, values32, sizeof bad_values);
	bad_values[4] = NAN;
	gram_matrix bad = matrix;
	gram_documents x = {.matrix = &bad};
	bad.values = bad_values;
	INVALID("row 1, column", gram_gram(&x, NULL, NONE, out, COUNT(out), fresh()));
	bad = matrix;
	bad.columns = 3;
	INVALID("must be a column in [0, 2]", gram_gram(&x, NULL, NONE, out, COUNT(out), fresh()));
	bad = matrix;
	bad.stored--;
	INVALID("but the last offset is 72", gram_gram(&x, NULL, NONE, out, COUNT(out), fresh()));
	bad = matrix;
	bad.value_bits = 16;
	INVALID("values must have 32 or 64 bits, got 16", gram_gram(&x, NULL, NONE, out, COUNT(out), fresh()));
	bad = matrix;
	bad.values = (const char *)values32 + 1;
	INVALID("aligned", gram_gram(&x, NULL, NONE, out, COUNT(out), fresh()));
	x = from_matrix;
	x.label_count--;
	INVALID("labels must have length 24, got 23", gram_train(&x, NONE, &o, fresh()));
	x = from_matrix;
	x.classes = &(gram_strings){class_names, class_sizes, 1};
	INVALID("labels[2] is 1, but there are only 1 classes", gram_train(&x, NONE, &o, fresh()));
	const char *const no_text[] = {"food", "c\xff"};
	static const int64_t no_sizes[] = {4, 2};
	x.classes = &(gram_strings){no_text, no_sizes, 2};
	INVALID("class 1, \"c\\xff\", is not valid UTF-8", gram_train(&x, NONE, &o, fresh()));
	targets[5] = INFINITY;
	INVALID("target of row 5 must be finite", gram_train(&from_targets, NONE, &o, fresh()));
	targets[5] = 1;

	/* A message is cut to its room, and there may be none. */
	call = (gram_call){.error = small, .error_size = 6};
	CHECK(gram_free(12345, &call) == GRAM_INVALID && strcmp(small, "gram:") == 0 && small[6] == '7');
	CHECK(gram_free(12345, NULL) == GRAM_INVALID);
	CHECK(gram_free(12345, &(gram_call){0}) == GRAM_INVALID);
}

static void forks(void)
{
	pid_t child = fork();
	if (child == 0) {
		gram_object o;
		atomic_store(&failures, 0);
		CHECK(strcmp(gram_version(), GRAM_VERSION) == 0);
		expect(__LINE__, GRAM_FORKED, "forked", gram_corpus(&from_matrix, NONE, &o, fresh()));
		expect(__LINE__, GRAM_FORKED, "the process was forked", gram_free(0, fresh()));
		CHECK(gram_free(0, NULL) == GRAM_FORKED);
		fflush(stdout);
		_exit(atomic_load(&failures) != 0);
	}
	int status = 1;
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- Cancel, progress, warnings --------------------------------------------------------------------------------- */

static sem_t begun;
static _Atomic int32_t cancel;

static void *set_cancel(void *unused)
{
	(void)unused;
	sem_wait(&begun);
	atomic_store(&cancel, 1);
	return NULL;
}

struct heard {
	int stages, warnings;
};

static void hear_progress(void *user, const char *stage, int64_t done, int64_t total)
{
	struct heard *h = user;
	if (strlen(stage) > 0 && done >= 0 && (total == 0 || done <= total))
		h->stages++;
	sem_post(&begun);
}

static void hear_warning(void *user, const char *warning)
{
	struct heard *h = user;
	h->warnings += strlen(warning) > 0;
}

/* Reading a pipe without an end, and work of hours, end when another thread says so. */
static void cancels(const char *folder)
{
	struct heard h = {0};
	char path[1000];
	gram_object o = 1;
	snprintf(path, sizeof path, "%s/pipe", folder);
	CHECK(mkfifo(path, 0600) == 0);
	int end = open(path, O_RDWR);
	CHECK(end >= 0 && write(end, "a\tb c\n", 6) == 6);
	for (int run = 0; run < 2; run++) {
		pthread_t other;
		sem_init(&begun, 0, 0);
		atomic_store(&cancel, 0);
		pthread_create(&other, NULL, set_cancel, NULL);
		fresh();
		call.cancel = (const int32_t *)&cancel;
		if (run == 0) {
			sem_post(&begun);
			expect(__LINE__, GRAM_CANCELLED, "canceled", gram_read(TEXT(path), TEXT("{\"format\": \"tsv\"}"), &o, &call));
			CHECK(o == 0);
		} else {
			call.progress = hear_progress;
			call.user = &h;
			const char *source = "synthetic:docs=200000,terms=100000";
			gram_object c = 0;
			int32_t code = gram_read(TEXT(source), NONE, &c, &call);
			if (code == GRAM_OK) { /* if reading was too short to tell */
				int64_t *groups = malloc(200000 * sizeof *groups);
				code = gram_duplicates(&(gram_documents){.corpus = c}, TEXT("{\"within\": 0.99}"), groups, 200000, &call);
				free(groups);
				OK(gram_free(c, NULL));
			}
			expect(__LINE__, GRAM_CANCELLED, "canceled", code);
		}
		pthread_join(other, NULL);
		sem_destroy(&begun);
	}
	close(end);
	CHECK(h.stages > 0);

	h = (struct heard){0};
	static const char *const apart[] = {"one", "two", "three"};
	static const int64_t sizes[] = {3, 3, 5};
	gram_documents x = {.texts = &(gram_strings){apart, sizes, 3}};
	sem_init(&begun, 0, 0);
	fresh();
	call.warn = hear_warning;
	call.progress = hear_progress;
	call.user = &h;
	OK(gram_corpus(&x, NONE, &o, &call));
	CHECK(h.warnings > 0);
	OK(gram_free(o, fresh()));
}

/* ---- Threads and memory ----------------------------------------------------------------------------------------- */

static gram_object shared_corpus, shared_model;

static void *work(void *unused)
{
	(void)unused;
	static const float *_Atomic first;
	float *k = malloc(pairs * sizeof *k);
	for (int i = 0; i < 5; i++) {
		gram_object model = 0, found = 0;
		gram_documents x = {.corpus = shared_corpus};
		OK(gram_train(&x, TEXT("{\"kernel\": \"linear\", \"c\": 1}"), &model, fresh()));
		OK(gram_predict(i % 2 == 0 ? model : shared_model, &x, NONE, &found, fresh()));
		ARRAY(found, "scores", GRAM_DOUBLE, documents, 1);
		ARRAY(shared_model, "bytes", GRAM_BYTES, -1, 1);
		OK(gram_gram(&x, NULL, NONE, k, pairs, fresh()));
		OK(gram_free(model, fresh()));
		OK(gram_free(found, fresh()));
	}
	const float *none = NULL;
	if (atomic_compare_exchange_strong(&first, &none, k))
		return NULL; /* the others compare with it */
	CHECK(memcmp(none, k, pairs * sizeof *k) == 0);
	free(k);
	return NULL;
}

static void threads(void)
{
	pthread_t all[8];
	OK(gram_corpus(&from_matrix, NONE, &shared_corpus, fresh()));
	OK(gram_train(&from_matrix, NONE, &shared_model, fresh()));
	for (int i = 0; i < COUNT(all); i++)
		pthread_create(&all[i], NULL, work, NULL);
	for (int i = 0; i < COUNT(all); i++)
		pthread_join(all[i], NULL);
	OK(gram_free(shared_corpus, fresh()));
	OK(gram_free(shared_model, fresh()));
}

static long resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1)
		FAIL("no /proc/self/statm");
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A round of ten calls, whose corpus, model and bytes hold half a MiB each. */
static void round_of_calls(float *values, const gram_documents *x, float *out)
{
	gram_object c = 0, m = 0, p = 0;
	values[0] = 1;
	OK(gram_corpus(x, NONE, &c, fresh()));
	ARRAY(c, "values", GRAM_FLOAT, -1, 1);
	OK(gram_gram(x, NULL, NONE, out, 1024, fresh()));
	OK(gram_train(x, TEXT("{\"kernel\": \"linear\", \"c\": 1}"), &m, fresh()));
	ARRAY(m, "bytes", GRAM_BYTES, -1, 1);
	OK(gram_predict(m, x, NONE, &p, fresh()));
	ARRAY(p, "scores", GRAM_DOUBLE, 32, 1);
	OK(gram_free(c, fresh()));
	OK(gram_free(p, fresh()));
	INVALID("unknown option", gram_train(x, TEXT("{\"x\": 1}"), &p, fresh()));
	OK(gram_free(m, fresh()));
}

static void memory(int rounds)
{
	enum { rows = 32, wide = 2048 };
	float *values = malloc(rows * wide * sizeof *values), out[rows * rows];
	int32_t own[rows];
	for (int i = 0; i < rows; i++) {
		own[i] = i % 2;
		for (int j = 0; j < wide; j++)
			values[i * wide + j] = (float)(1 + (i * j) % 5 + 3 * ((i + j) % 2));
	}
	gram_matrix m = {rows, wide, NULL, NULL, values, rows * wide, 0, 0, 32};
	gram_documents x = {.matrix = &m, .classes = &classes, .labels = own, .label_count = rows};
	for (int i = 0; i < rounds / 4; i++)
		round_of_calls(values, &x, out);
	long before = resident();
	for (int i = 0; i < rounds; i++)
		round_of_calls(values, &x, out);
	long grown = resident() - before;
	/* Of few rounds the heap, which grows to twice of what is there at a collection, would be more than a leak. */
	if (rounds >= 100 && !(grown < rounds / 4L << 20))
		FAIL("memory grew by %ld bytes in %d rounds", grown, rounds);
	free(values);
}

/* Claims more memory than there is, which valgrind must see. */
static int overrun(void)
{
	float *k = malloc((pairs - 1) * sizeof *k);
	OK(gram_gram(&from_matrix, NULL, NONE, k, pairs, fresh()));
	free(k);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const char *folder = argv[1];
	CHECK(strcmp(gram_version(), GRAM_VERSION) == 0);
	make_documents();
	if (strcmp(argv[2], "overrun") == 0)
		return overrun();
	kernels();
	corpora(folder);
	models(folder);
	components();
	indexes(folder);
	errors(folder);
	if (atoi(argv[2]) > 0) {
		forks();
		cancels(folder);
		threads();
		memory(atoi(argv[2]));
	}
	if (atomic_load(&failures) == 0)
		puts("ok");
	return atomic_load(&failures) != 0;
}
