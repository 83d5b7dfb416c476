// Command mkheader extracts the CUDA driver header from the module gorgonia.org/cu. With this
// header, gorgonia.org/cu compiles without a CUDA toolkit. Usage:
//
//	mkheader DIRECTORY
//
// It writes DIRECTORY/cuda.h. The module's header is preprocessed, so it lacks the macros that
// select the 64-bit functions. The command adds these macros.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// versionedFunctions lists the functions, without the prefix cu, whose 64-bit version has the
// suffix _v2.
const versionedFunctions = `DeviceTotalMem CtxCreate CtxDestroy CtxPopCurrent CtxPushCurrent ModuleGetGlobal
	MemGetInfo MemAlloc MemAllocPitch MemFree MemGetAddressRange MemAllocHost MemHostGetDevicePointer MemHostRegister
	MemcpyHtoD MemcpyDtoH MemcpyDtoD MemcpyDtoA MemcpyAtoD MemcpyHtoA MemcpyAtoH MemcpyAtoA
	MemcpyHtoAAsync MemcpyAtoHAsync MemcpyHtoDAsync MemcpyDtoHAsync MemcpyDtoDAsync
	Memcpy2D Memcpy2DUnaligned Memcpy3D Memcpy2DAsync Memcpy3DAsync
	MemsetD8 MemsetD16 MemsetD32 MemsetD2D8 MemsetD2D16 MemsetD2D32
	ArrayCreate ArrayGetDescriptor Array3DCreate Array3DGetDescriptor
	TexRefSetAddress TexRefGetAddress StreamDestroy EventDestroy LinkCreate LinkAddData LinkAddFile
	DevicePrimaryCtxRelease DevicePrimaryCtxReset DevicePrimaryCtxSetFlags`

// firstDeclaration is the start of the driver's first declaration. Earlier lines come from the C
// library.
const firstDeclaration = "typedef uint32_t cuuint32_t"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mkheader:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("got %d arguments; usage: mkheader DIRECTORY", len(args))
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/cu").Output()
	if err != nil {
		return fmt.Errorf("go list -m gorgonia.org/cu: %w", err)
	}
	dir := strings.TrimSpace(string(module))
	if dir == "" { // the module isn't downloaded yet
		if text, err := exec.Command("go", "mod", "download", "gorgonia.org/cu").CombinedOutput(); err != nil {
			return fmt.Errorf("go mod download gorgonia.org/cu: %w: %s", err, text)
		}
		if module, err = exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/cu").Output(); err != nil {
			return fmt.Errorf("go list -m gorgonia.org/cu: %w", err)
		}
		dir = strings.TrimSpace(string(module))
	}
	source := filepath.Join(dir, "cmd", "genlib", "cuda.h")
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	header, err := convert(text)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := os.MkdirAll(args[0], 0o777); err != nil {
		return err
	}
	target := filepath.Join(args[0], "cuda.h")
	if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, header) {
		return nil // an unchanged file keeps the build cache valid
	}
	return os.WriteFile(target, header, 0o666)
}

func convert(text []byte) ([]byte, error) {
	at := bytes.Index(text, []byte("\n"+firstDeclaration))
	if at < 0 {
		return nil, fmt.Errorf("no line starts with %q", firstDeclaration)
	}
	var b bytes.Buffer
	b.WriteString("// Made by cuda/internal/mkheader from cmd/genlib/cuda.h of gorgonia.org/cu.\n" +
		"#ifndef GRAM_CUDA_H\n#define GRAM_CUDA_H\n#include <stdint.h>\n#include <stdlib.h>\n")
	b.WriteString("#define CU_TRSF_READ_AS_INTEGER 1\n#define CU_TRSF_NORMALIZED_COORDINATES 2\n")
	for _, name := range strings.Fields(versionedFunctions) {
		fmt.Fprintf(&b, "#define cu%s cu%s_v2\n", name, name)
	}
	b.WriteString("#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3\n")
	b.Write(text[at+1:])
	b.WriteString("#endif\n")
	return b.Bytes(), nil
}
