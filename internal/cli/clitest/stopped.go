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

// Programs returns commands for scripts. name runs the program. heeds and stopped run the program
// and send a signal while it works. eager calls change and then runs the program.
func Programs(name string, main, change func()) map[string]func() {
	return map[string]func(){
		name:      main,
		"heeds":   func() { heeds(name, main) },
		"stopped": func() { stopped(name, main) },
		"eager":   func() { change(); main() },
	}
}

// heedsWithin is the maximum time for a command to end after a signal: a hundred times the time on
// an idle computer, but less than the time of the command's work.
const heedsWithin = 15 * time.Second

// heeds SIGNAL SECONDS PATTERN ARGS... runs a command and sends a signal SECONDS after the
// command's progress first matches the pattern. The command must end by itself.
func heeds(name string, main func()) {
	cli.Grace = time.Hour
	stopped(name, main)
}

// stopped is like heeds, for a command that ignores the signal, so the program must end it.
func stopped(name string, main func()) {
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
	cli.Watch = func(what string) {
		if !when.MatchString(what) {
			return
		}
		once.Do(func() {
			time.AfterFunc(wait, func() {
				time.AfterFunc(heedsWithin, func() {
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
