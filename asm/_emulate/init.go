// Init is the first process of the virtual machine that avx512.sh starts. It runs the test programs
// listed in the file /commands, one per line, and shuts the virtual machine down. Its last output
// line reports whether all test programs passed.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/gramengine/gram/asm"
)

func main() {
	result := "passed"
	if err := run(); err != nil {
		result = fmt.Sprintf("failed: %v", err)
	}
	fmt.Printf("\nemulate: %s\n", result)
	drain(os.Stdout)
	syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
	select {} // the kernel panics when its first process ends
}

func run() error {
	// Go programs open /dev/null for child processes. Tests may also use /proc and /tmp.
	for _, fs := range []struct{ kind, at string }{{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"tmpfs", "/tmp"}} {
		if err := os.MkdirAll(fs.at, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(fs.kind, fs.at, fs.kind, 0, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", fs.at, err)
		}
	}
	have := asm.Available()
	fmt.Println("emulate: instruction sets:", have)
	if !slices.Contains(have, asm.AVX512) {
		return errors.New("this computer has no AVX-512")
	}
	list, err := os.Open("/commands")
	if err != nil {
		return err
	}
	var errs []error
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		fmt.Println("emulate:", lines.Text())
		arg := strings.Fields(lines.Text())
		c := exec.Command(arg[0], arg[1:]...)
		c.Stdout, c.Stderr = os.Stdout, os.Stdout
		// math/big, which tests use, gives wrong results in Bochs 2.7 with ADCX and ADOX.
		c.Env = []string{"GODEBUG=cpu.adx=off", "HOME=/tmp", "PATH=/"}
		if err := c.Run(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", arg[0], err))
		}
	}
	return errors.Join(append(errs, lines.Err())...)
}

// drain waits until the serial line has sent all output, so that shutdown doesn't lose output.
func drain(f *os.File) {
	const tcsbrk = 0x5409
	syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), tcsbrk, 1)
}
