//go:build cgo

/*
 * The C side of the library: each function of gram.h passes its arguments to the Go function of the
 * same name. A forked process must not enter Go, and gets an error here.
 */
#include <stdio.h>
#include <unistd.h>

#include "gram.h"
#include "_cgo_export.h"

/* The arguments of all functions. Go's struct of the same name has the same layout. */
typedef struct arguments {
	const char           *options;
	int64_t               options_size;
	gram_object          *result;
	const gram_documents *x, *y;
	const gram_strings   *texts;
	gram_object           object;
	const void           *name;
	int64_t               name_size;
	int64_t               i, k;
	const int64_t        *numbers;
	int64_t               number_count;
	float                *floats;
	int64_t               float_count;
	double               *doubles;
	int64_t               double_count;
	gram_view            *view;
} arguments;

_Static_assert(sizeof(arguments) == 18 * 8, "each argument has 64 bits");

static pid_t loader; /* the process that loaded the library, in which Go's threads are */

__attribute__((constructor)) static void loaded(void) { loader = getpid(); }

static int32_t refuse(const gram_call *call, int32_t code, const char *message)
{
	if (call != NULL && call->error != NULL && call->error_size > 0)
		snprintf(call->error, (size_t)call->error_size, "gram: %s", message);
	return code;
}

static int32_t enter(const char *function, const gram_call *call, arguments *a)
{
	static gram_call none;
	if (getpid() == loader)
		return goCall((char *)function, call != NULL ? (void *)call : &none, a);
	return refuse(call, GRAM_FORKED, "the process was forked after the library was loaded, expected a spawned process, or "
	                                 "loading the library after the fork");
}

/* The callbacks of a call, for Go, which can't call pointers to functions. */
void gramProgress(const gram_call *call, const char *stage, int64_t done, int64_t total)
{
	call->progress(call->user, stage, done, total);
}

void gramWarn(const gram_call *call, const char *warning) { call->warn(call->user, warning); }

#define CALL(...) return enter(__func__, call, &(arguments){__VA_ARGS__})

/* A call that makes an object. */
#define MAKE(made, ...)                                                                              \
	do {                                                                                               \
		if ((made) == NULL)                                                                              \
			return refuse(call, GRAM_INVALID, "NULL for the object that is returned, expected a pointer"); \
		*(made) = 0;                                                                                     \
		CALL(.result = (made), __VA_ARGS__);                                                             \
	} while (0)

/* Initialisers of arguments that come with a length. */
#define OPTIONS .options = options, .options_size = options_size
#define NAME(bytes, size) .name = (bytes), .name_size = (size)

const char *gram_version(void) { return GRAM_VERSION; }

int32_t gram_free(gram_object object, const gram_call *call) { CALL(.object = object); }

int32_t gram_read(const char *source, int64_t source_size, const char *options, int64_t options_size,
                  gram_object *corpus, const gram_call *call)
{
	MAKE(corpus, OPTIONS, NAME(source, source_size));
}

int32_t gram_corpus(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *corpus, const gram_call *call)
{
	MAKE(corpus, OPTIONS, .x = x);
}

int32_t gram_gram(const gram_documents *x, const gram_documents *y, const char *options, int64_t options_size,
                  float *out, int64_t out_count, const gram_call *call)
{
	CALL(OPTIONS, .x = x, .y = y, .floats = out, .float_count = out_count);
}

int32_t gram_neighbours(const gram_documents *x, const gram_documents *of, const char *options, int64_t options_size,
                        int64_t k, int64_t *out_documents, float *out_values, int64_t out_count,
                        const gram_call *call)
{
	CALL(OPTIONS, .x = x, .y = of, .k = k, .numbers = out_documents, .number_count = out_count, .floats = out_values,
	     .float_count = out_count);
}

int32_t gram_duplicates(const gram_documents *x, const char *options, int64_t options_size,
                        int64_t *out_groups, int64_t out_count, const gram_call *call)
{
	CALL(OPTIONS, .x = x, .numbers = out_groups, .number_count = out_count);
}

int32_t gram_train(const gram_documents *x, const char *options, int64_t options_size,
                   gram_object *model, const gram_call *call)
{
	MAKE(model, OPTIONS, .x = x);
}

int32_t gram_cross_validate(const gram_documents *x, const char *options, int64_t options_size,
                            gram_object *result, const gram_call *call)
{
	MAKE(result, OPTIONS, .x = x);
}

int32_t gram_search(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *result, const gram_call *call)
{
	MAKE(result, OPTIONS, .x = x);
}

int32_t gram_predict(gram_object model, const gram_documents *x, const char *options, int64_t options_size,
                     gram_object *predictions, const gram_call *call)
{
	MAKE(predictions, OPTIONS, .x = x, .object = model);
}

int32_t gram_explain(gram_object model, const gram_documents *x, int64_t i, int64_t terms,
                     gram_object *result, const gram_call *call)
{
	MAKE(result, .x = x, .object = model, .i = i, .k = terms);
}

int32_t gram_pca(const gram_documents *x, const char *options, int64_t options_size,
                 gram_object *components, const gram_call *call)
{
	MAKE(components, OPTIONS, .x = x);
}

int32_t gram_project(gram_object components, const gram_documents *x, const char *options, int64_t options_size,
                     double *out, int64_t out_count, const gram_call *call)
{
	CALL(OPTIONS, .x = x, .object = components, .doubles = out, .double_count = out_count);
}

int32_t gram_index(const gram_strings *texts, const char *options, int64_t options_size,
                   gram_object *index, const gram_call *call)
{
	MAKE(index, OPTIONS, .texts = texts);
}

int32_t gram_index_add(gram_object index, const gram_strings *texts, int64_t *out_numbers, int64_t out_count,
                       const gram_call *call)
{
	CALL(.object = index, .texts = texts, .numbers = out_numbers, .number_count = out_count);
}

int32_t gram_index_remove(gram_object index, const int64_t *numbers, int64_t count, const gram_call *call)
{
	CALL(.object = index, .numbers = numbers, .number_count = count);
}

int32_t gram_index_query(gram_object index, const gram_strings *texts, const char *options, int64_t options_size,
                         gram_object *result, const gram_call *call)
{
	MAKE(result, OPTIONS, .object = index, .texts = texts);
}

int32_t gram_index_refit(gram_object index, const gram_call *call) { CALL(.object = index); }

int32_t gram_load(const char *path, int64_t path_size, gram_object *object, const gram_call *call)
{
	MAKE(object, NAME(path, path_size));
}

int32_t gram_load_bytes(const void *bytes, int64_t size, gram_object *object, const gram_call *call)
{
	MAKE(object, NAME(bytes, size));
}

int32_t gram_save(gram_object object, const char *path, int64_t path_size, const gram_call *call)
{
	CALL(.object = object, NAME(path, path_size));
}

int32_t gram_array(gram_object object, const char *name, int64_t name_size, gram_view *out, const gram_call *call)
{
	if (out == NULL)
		return refuse(call, GRAM_INVALID, "NULL for the array that is returned, expected a pointer");
	*out = (gram_view){NULL, 0, 0, 0};
	CALL(.object = object, NAME(name, name_size), .view = out);
}
