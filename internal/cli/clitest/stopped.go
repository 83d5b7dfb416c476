package clitest

import (
	"fmt"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/gramengine/gram/internal/cli"
)

// Commands returns the commands that scripts can run. The command with the given name runs the
// program. The commands "heeds" and "stopped" run the program and send it a signal. The command
// "eager" calls change and then runs the program.
func Commands(name string, main, change func()) map[string]func() {
	return map[string]func(){
		name:      main,
		"heeds":   func() { runInterrupted(name, main) },
		"stopped": func() { runKilled(name, main) },
		"eager":   func() { change(); main() },
	}
}

// signalTimeout is the maximum time for a command to end after a signal: a hundred times the time
// on an idle computer, but less than the time of the command's work.
const signalTimeout = 15 * time.Second

// runInterrupted implements "heeds SIGNAL SECONDS PATTERN ARG...", which runs a command and sends a
// signal SECONDS after the command's progress first matches PATTERN. The command must end by
// itself.
func runInterrupted(name string, main func()) {
	cli.GracePeriod = time.Hour
	runKilled(name, main)
}

// runKilled implements "stopped", which is like "heeds" for a command that ignores the signal, so
// that the program must end the command.
func runKilled(name string, main func()) {
	sent, after, when := os.Args[1], os.Args[2], regexp.MustCompile(os.Args[3])
	os.Args = append([]string{name}, os.Args[4:]...)
	number := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL,
	}[sent]
	wait, err := time.ParseDuration(after + "s")
	self, err2 := os.FindProcess(os.Getpid())
	if number == 0 || err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "can't stop:", sent, err, err2)
		os.Exit(2)
	}
	var once sync.Once
	cli.OnProgress = func(what string) {
		if !when.MatchString(what) {
			return
		}
		once.Do(func() {
			time.AfterFunc(wait, func() {
				time.AfterFunc(signalTimeout, func() {
					fmt.Fprintln(os.Stderr, "too late")
					os.Exit(99)
				})
				if err := self.Signal(number); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(2)
				}
			})
		})
	}
	main()
}
