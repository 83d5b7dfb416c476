//go:build unix

package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// SparkCluster is a Spark cluster with one master and several workers. Each worker has one core.
type SparkCluster struct {
	URL  string // spark://HOST:PORT
	home string
	env  []string
}

// StartSpark starts a master and workers as local processes, from the Spark installation in
// SPARK_HOME (see `make cluster-check`). These processes inherit the current environment.
func StartSpark(t testing.TB, workers int) *SparkCluster {
	t.Helper()
	RequireServers(t)
	home := os.Getenv("SPARK_HOME")
	if home == "" {
		t.Fatal("SPARK_HOME is not set; `make cluster-check` installs Spark and sets it")
	}
	temp := t.TempDir()
	c := &SparkCluster{home: home, env: append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+temp,
		"SPARK_DAEMON_MEMORY=512m", "PYSPARK_PYTHON="+pythonPath(home))}
	c.URL = fmt.Sprintf("spark://127.0.0.1:%d", freePort(t))
	_, port, _ := strings.Cut(strings.TrimPrefix(c.URL, "spark://"), ":")
	for i := range workers + 1 {
		args := []string{"org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"}
		if i > 0 {
			args = []string{"org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
				"--cores", "1", "--memory", "1g", "--work-dir", filepath.Join(temp, fmt.Sprint("worker", i)), c.URL}
		}
		cmd := exec.Command(filepath.Join(home, "bin", "spark-class"), args...)
		cmd.Env = c.env
		start(t, cmd, sparkReady.MatchString)
	}
	return c
}

// sparkReady matches the log of a running master and of a registered worker.
var sparkReady = regexp.MustCompile(`I have been elected leader|Successfully registered with master`)

// pythonPath returns the interpreter of the virtual environment that contains home, or python3.
func pythonPath(home string) string {
	for dir := home; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		p := filepath.Join(dir, "bin", "python")
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return "python3"
}

// Submit runs a Python program on the cluster and returns its standard output and standard error.
func (c *SparkCluster) Submit(program string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command(filepath.Join(c.home, "bin", "spark-submit"), append([]string{"--master", c.URL,
		"--conf", "spark.ui.enabled=false", "--conf", "spark.scheduler.minRegisteredResourcesRatio=1",
		"--executor-memory", "512m", "--driver-memory", "512m", program}, args...)...)
	cmd.Env = c.env
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}
