//go:build cgo

// Libgram is package gram as a C library. The header gram.h documents the library.
//
//	go build -buildmode=c-shared -o libgram.so ./cmd/libgram
//
// For each function of gram.h, gram.c passes the [arguments] to the Go function with the same name
// in [functions]. Only main.go uses cgo. All functions call package gram, and share the code for
// options ([decode]), documents ([documents]), objects ([registry]) and results ([array]).
//
// SPDX-License-Identifier: BSD-3-Clause
package main

/*
#include "gram.h"

void gramProgress(const gram_call *call, const char *stage, int64_t done, int64_t total);
void gramWarn(const gram_call *call, const char *warning);
*/
import "C"

import "unsafe"

func main() {} // required by -buildmode=c-shared, but never called

// goCall calls the function with the given name.
//
//export goCall
func goCall(name *C.char, call, a unsafe.Pointer) C.int32_t {
	return C.int32_t(run((*request)(call), functions[C.GoString(name)], (*arguments)(a)))
}

// toProgress calls the caller's progress function. stage must be NUL-terminated.
func (r *request) toProgress(stage []byte, done, total int64) {
	C.gramProgress((*C.gram_call)(unsafe.Pointer(r)), (*C.char)(unsafe.Pointer(&stage[0])), C.int64_t(done),
		C.int64_t(total))
}

// toWarn calls the caller's warn function. warning must be NUL-terminated.
func (r *request) toWarn(warning []byte) {
	C.gramWarn((*C.gram_call)(unsafe.Pointer(r)), (*C.char)(unsafe.Pointer(&warning[0])))
}
