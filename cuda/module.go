//go:build cuda && cgo && linux

package cuda

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// moduleVariable is the environment variable with the path of a kernel file that replaces the
// embedded PTX. The file contains PTX, or a cubin for the device's compute capability. Drivers
// without a compiler need a cubin.
const moduleVariable = "GRAM_CUDA_MODULE"

// elfCUDA is the ELF machine number of a cubin. The header flags contain the compute capability: in
// bits 0 to 7 up to ABI version 7, and in bits 8 to 15 from version 8. Source: EF_CUDA_SM and
// EF_CUDA_SM_OFFSET of LLVM's BinaryFormat/ELF.h.
const elfCUDA elf.Machine = 190

func readModule(file string) (string, error) {
	if file == "" {
		return ptx, nil
	}
	image, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cuda: kernel module: %w", err)
	}
	return string(image), nil
}

// checkModule checks that a kernel file has all kernels. A cubin must also support the compute
// capability and be complete, because the driver would read past the end of a truncated file.
func checkModule(file, image, capability string) error {
	problem := checkPTX
	if !strings.Contains(image[:min(len(image), 4096)], ".version") {
		problem = checkCubin
	}
	if err := problem(image, capability); err != nil {
		return fmt.Errorf("cuda: kernel module %s: %w", file, err)
	}
	return nil
}

func missingKernelsError(has func(name string) bool) error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(new(kernels).functions())) {
		if !has(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("it lacks the kernels %s", strings.Join(names, ", "))
	}
	return nil
}

func checkPTX(image, _ string) error {
	if strings.ContainsRune(image, 0) {
		return errors.New("PTX must be text, but it has a zero byte")
	}
	return missingKernelsError(func(name string) bool { return strings.Contains(image, ".entry "+name+"(") })
}

func checkCubin(image, capability string) error {
	plain := image
	if len(image) > 64 { // debug/elf requires ELF version 1, but NVIDIA writes the toolkit's version
		plain = image[:20] + "\x01\x00\x00\x00" + image[24:]
	}
	f, err := elf.NewFile(strings.NewReader(plain))
	if err != nil {
		return fmt.Errorf("not PTX or a complete cubin: %w", err)
	}
	if f.Machine != elfCUDA || f.Class != elf.ELFCLASS64 || f.ByteOrder.String() != "LittleEndian" {
		return fmt.Errorf("not a cubin but an ELF file for %v", f.Machine)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && (s.Offset > uint64(len(image)) || s.FileSize > uint64(len(image))-s.Offset) {
			return fmt.Errorf("truncated to %d bytes, within section %s", len(image), s.Name)
		}
	}
	for _, p := range f.Progs {
		if p.Off > uint64(len(image)) || p.Filesz > uint64(len(image))-p.Off {
			return fmt.Errorf("truncated to %d bytes, within a segment", len(image))
		}
	}
	flags := f.ByteOrder.Uint32([]byte(image[48:]))
	sm := flags & 0xff
	if f.ABIVersion >= 8 {
		sm = flags >> 8 & 0xff
	}
	var major, minor uint32
	if _, err := fmt.Sscanf(capability, "%d.%d", &major, &minor); err != nil {
		return err
	}
	if sm/10 != major || sm%10 > minor {
		return fmt.Errorf("built for compute capability %d.%d, but the device supports %d.0 to %s",
			sm/10, sm%10, major, capability)
	}
	return missingKernelsError(func(name string) bool {
		s := f.Section(".text." + name)
		return s != nil && s.Size > 0
	})
}
