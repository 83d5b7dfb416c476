//go:build cgo

// Libgram is package gram as a C library; gram.h says what it does.
//
//	go build -buildmode=c-shared -o libgram.so ./cmd/libgram
//
// A function of gram.h passes its arguments through gram.c to the Go function of the same name, in [functions]: they
// lie in memory as a struct of Go. From there on nothing knows of C: options ([decode]), documents ([documents]),
// objects ([registry]) and results ([array]) are common to all functions, and each then calls package gram.
package main

/*
#include "gram.h"

void gramProgress(const gram_call *call, const char *stage, int64_t done, int64_t total);
void gramWarn(const gram_call *call, const char *warning);
*/
import "C"

import "unsafe"

func main() {} // which a library needs, and nobody calls

// goCall calls the function of a name.
//
//export goCall
func goCall(name *C.char, call, arguments unsafe.Pointer) C.int32_t {
	return C.int32_t(run((*request)(call), functions[C.GoString(name)], arguments))
}

// toProgress calls the caller's function; stage ends with a 0.
func (r *request) toProgress(stage []byte, done, total int64) {
	C.gramProgress((*C.gram_call)(unsafe.Pointer(r)), (*C.char)(unsafe.Pointer(&stage[0])), C.int64_t(done),
		C.int64_t(total))
}

// toWarn calls the caller's function; warning ends with a 0.
func (r *request) toWarn(warning []byte) {
	C.gramWarn((*C.gram_call)(unsafe.Pointer(r)), (*C.char)(unsafe.Pointer(&warning[0])))
}
