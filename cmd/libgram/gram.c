//go:build cgo

/*
 * The door from C: each function of gram.h hands its arguments, by its name, to the Go function of the same name. What a
 * child process must not do, which is to enter Go, is stopped here.
 */
#include <stdio.h>
#include <unistd.h>

#include "gram.h"
#include "_cgo_export.h"

_Static_assert(sizeof(void *) == 8, "arguments are words of 64 bits");

static pid_t loader; /* the process that loaded the library, in which Go's threads are */

__attribute__((constructor)) static void loaded(void) { loader = getpid(); }

static int32_t enter(const char *function, const gram_call *call, uint64_t *arguments)
{
	if (getpid() == loader)
		return goCall((char *)function, (void *)call, arguments);
	if (call != NULL && call->error != NULL && call->error_size > 0)
		snprintf(call->error, (size_t)call->error_size,
		         "gram: %s in a process that was forked after the library was loaded: expected one that was spawned, or "
		         "that loads the library after the fork", function);
	return GRAM_FORKED;
}

/* The callbacks of a call, for Go, which can't call pointers to functions. */
void gramProgress(const gram_call *call, const char *stage, int64_t done, int64_t total)
{
	call->progress(call->user, stage, done, total);
}

void gramWarn(const gram_call *call, const char *warning) { call->warn(call->user, warning); }

#define WORD(argument) ((uint64_t)(argument))
#define CALL(...) return enter(__func__, call, (uint64_t[]){__VA_ARGS__})

const char *gram_version(void) { return GRAM_VERSION; }

int32_t gram_free(gram_object object, const gram_call *call) { CALL(WORD(object)); }

int32_t gram_read(const char *source, int64_t source_size, const char *options, int64_t options_size,
                  gram_object *corpus, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(corpus), WORD(source), WORD(source_size));
}

int32_t gram_corpus(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *corpus, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(corpus), WORD(x));
}

int32_t gram_gram(const gram_documents *x, const gram_documents *y, const char *options, int64_t options_size,
                  float *out, int64_t out_count, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(x), WORD(y), WORD(out), WORD(out_count));
}

int32_t gram_neighbours(const gram_documents *x, const gram_documents *of, const char *options, int64_t options_size,
                        int64_t k, int64_t *out_documents, float *out_values, int64_t out_count,
                        const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(x), WORD(of), WORD(k), WORD(out_documents), WORD(out_values),
	     WORD(out_count));
}

int32_t gram_duplicates(const gram_documents *x, const char *options, int64_t options_size,
                        int64_t *out_groups, int64_t out_count, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(x), WORD(out_groups), WORD(out_count));
}

int32_t gram_train(const gram_documents *x, const char *options, int64_t options_size,
                   gram_object *model, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(model), WORD(x));
}

int32_t gram_cross_validate(const gram_documents *x, const char *options, int64_t options_size,
                            gram_object *result, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(result), WORD(x));
}

int32_t gram_search(const gram_documents *x, const char *options, int64_t options_size,
                    gram_object *result, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(result), WORD(x));
}

int32_t gram_predict(gram_object model, const gram_documents *x, const char *options, int64_t options_size,
                     gram_object *predictions, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(predictions), WORD(x), WORD(model));
}

int32_t gram_explain(gram_object model, const gram_documents *x, int64_t i, int64_t terms,
                     gram_object *result, const gram_call *call)
{
	CALL(WORD(result), WORD(x), WORD(model), WORD(i), WORD(terms));
}

int32_t gram_pca(const gram_documents *x, const char *options, int64_t options_size,
                 gram_object *components, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(components), WORD(x));
}

int32_t gram_project(gram_object components, const gram_documents *x, const char *options, int64_t options_size,
                     double *out, int64_t out_count, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(x), WORD(components), WORD(out), WORD(out_count));
}

int32_t gram_index(const gram_strings *texts, const char *options, int64_t options_size,
                   gram_object *index, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(index), WORD(texts));
}

int32_t gram_index_add(gram_object index, const gram_strings *texts, int64_t *out_numbers, int64_t out_count,
                       const gram_call *call)
{
	CALL(WORD(index), WORD(texts), WORD(out_numbers), WORD(out_count));
}

int32_t gram_index_remove(gram_object index, const int64_t *numbers, int64_t count, const gram_call *call)
{
	CALL(WORD(index), WORD(numbers), WORD(count));
}

int32_t gram_index_query(gram_object index, const gram_strings *texts, const char *options, int64_t options_size,
                         gram_object *result, const gram_call *call)
{
	CALL(WORD(options), WORD(options_size), WORD(result), WORD(index), WORD(texts));
}

int32_t gram_index_refit(gram_object index, const gram_call *call) { CALL(WORD(index)); }

int32_t gram_load(const char *path, int64_t path_size, gram_object *object, const gram_call *call)
{
	CALL(WORD(object), WORD(path), WORD(path_size));
}

int32_t gram_load_bytes(const void *bytes, int64_t size, gram_object *object, const gram_call *call)
{
	CALL(WORD(object), WORD(bytes), WORD(size));
}

int32_t gram_save(gram_object object, const char *path, int64_t path_size, const gram_call *call)
{
	CALL(WORD(object), WORD(path), WORD(path_size));
}

int32_t gram_array(gram_object object, const char *name, int64_t name_size, gram_view *out, const gram_call *call)
{
	CALL(WORD(object), WORD(name), WORD(name_size), WORD(out));
}
