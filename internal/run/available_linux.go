package run

import (
	"os"
	"runtime"
)

// Available returns how many bytes of memory this process can still take, as far as the system
// says: of the machine, of the control groups that the process is in, as a container is, and below
// the limits of the process (ulimit -v and -d), less what Go's runtime takes of these beside what is
// asked for. It returns false where the system doesn't say. Memory that Go's runtime keeps for later
// counts as taken. It takes some 100 µs, and may be called concurrently.
func Available() (bytes int64, known bool) {
	b := AvailableBound()
	return max(b.Bytes, 0), b.By != ""
}

// AvailableBound is [Available] with what bounds it. Bytes are below 0 where a limit of the process
// leaves less than the runtime itself needs, and the greatest int64 where nothing is known.
func AvailableBound() Bound { return available(os.DirFS("/")).least(ProcessBound()) }

// ProcessBound is [AvailableBound] for the limits of the process alone.
func ProcessBound() Bound { return limited(os.DirFS("/"), runtime.GOMAXPROCS(0), cThreads) }
