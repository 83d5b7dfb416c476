package solver
import ("testing";"context";"fmt";"time";"os";"syscall")
func cpu() time.Duration { var u syscall.Rusage; syscall.Getrusage(0,&u); return time.Duration(u.Utime.Nano()+u.Stime.Nano()) }
func TestMin(t *testing.T){
	if os.Getenv("MIN")=="" { t.Skip() }
	m, labels, classes := newsgroups(t)
	for _, w := range []int{1,2} {
		best, bestCPU := time.Hour, time.Hour
		steps:=0
		for range 12 {
			c0:=cpu(); t0:=time.Now()
			c, err := Train(context.Background(), m, labels, classes, OneVsOne, Parameters{C: 10}, nil, Options{Workers: w})
			if err != nil { t.Fatal(err) }
			best=min(best,time.Since(t0)); bestCPU=min(bestCPU,cpu()-c0)
			steps=0
			for _,m:=range c.Machines{steps+=m.Iterations}
		}
		fmt.Printf("MIN workers=%d wall %v cpu %v steps %d\n", w, best, bestCPU, steps)
	}
}
