// Package serve implements the command serve, which serves predictions of a model over HTTP. It
// parses and limits requests, and reloads the model. Package gram computes the predictions.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// Command is the command serve, which serves a model over HTTP.
var Command = &cli.Command{
	Name:    "serve",
	Summary: "serve a model over HTTP: predictions, explanations, neighbours, and a web page",
	NoJSON:  true,
	Help: `
Serves predictions of a model that was trained on texts, until ^C or SIGTERM:
  POST /predict     class, probability, margin to the second class, known words
  POST /explain     terms with the largest effect on the prediction
  POST /neighbours  nearest documents of -of by c = 1 - cosine
  GET /healthz      model and status     GET /metrics   for Prometheus       GET /   web page
The body is JSON, {"text": "..."} or {"texts": ["...", ...]}, or plain text; "n" is the number of
terms or neighbours. Models of tables take {"COLUMN": value, ...}, or an array of objects.
Responses and errors are JSON. If the model file is replaced, the server loads it and -of within two
seconds, or at once after SIGHUP; if this fails, it keeps the old model. By default only localhost
can connect. Use a reverse proxy for other addresses (-addr), because the server has no
authentication and no encryption.`,
	Examples: `
gram serve news.model
gram serve -addr localhost:9000 -of train.tsv.gz news.model
curl --json '{"text": "the shuttle reached orbit"}' localhost:8080/predict
gram train train.tsv.gz news.model      serve notices the new file`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		r := &serveFlags{}
		f.StartGroup("Model", "")
		f.InputVar(&r.model, "model", "serve the model in `FILE`")
		f.StringVar(&r.textsSource, "of", "", "search neighbours among the texts of `SOURCE` (default: none)")
		f.RegisterInput(&r.textsSource, "of", func(ctx context.Context) []string {
			files, _ := corpus.Files(ctx, r.textsSource) // an error occurs again when the texts are read
			return files
		})
		f.SetArguments(cli.Argument{Flag: "model", ValueName: "model"})
		f.StartGroup("Service", "")
		f.StringVar(&r.addr, "addr", "localhost:8080", "listen on `HOST:PORT`; port 0 = any free port")
		r.maxBody = 1 << 20
		f.Var(&r.maxBody, "max-body", "maximum `SIZE` of a request")
		f.DurationVar(&r.timeout, "timeout", 10*time.Second, "maximum `DURATION` of reading, and of answering, a request")
		r.limits.DeclareMemory(f)
		r.limits.DeclareWorkers(f)
		f.AddCheck(r.check)
		return r.run
	},
}

type serveFlags struct {
	model, textsSource, addr string
	maxBody                  cli.ByteSize
	timeout                  time.Duration
	limits                   backend.Limits
}

func (r *serveFlags) check() error {
	_, _, err := net.SplitHostPort(r.addr)
	switch {
	case r.model == "":
		return cli.Usagef("-model FILE is required")
	case err != nil:
		return cli.Usagef("-addr must be HOST:PORT, such as localhost:8080, got %s", r.addr)
	case r.maxBody > 1<<30:
		return cli.Usagef("-max-body must be at most 1G, got %s", &r.maxBody)
	case r.timeout < time.Millisecond || r.timeout > time.Hour:
		return cli.Usagef("-timeout must be between 1ms and 1h, got %v", r.timeout)
	}
	return nil
}

// shutdownTimeout is the time limit for pending requests after ^C. It is shorter than
// [cli.GracePeriod].
const shutdownTimeout = 500 * time.Millisecond

func (r *serveFlags) run(ctx context.Context, e *cli.Env) error {
	r.limits.SetMemoryLimit()
	// From here on, SIGHUP reloads the model. Until then it ends the program, as in all commands.
	signal.Reset(syscall.SIGHUP)
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)

	watch := &watcher{file: r.model}
	watch.recordState()
	first, err := r.load(ctx)
	if err != nil {
		return err
	}
	s := newService(r.limits.NumWorkers(), int64(r.maxBody), r.timeout)
	s.setModel(first)
	if err := r.setMemoryLimit(s); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", r.addr)
	if err != nil {
		return fmt.Errorf("-addr %s: %w", r.addr, listenErrorReason(err))
	}
	s.errorLog = log.New(e.Stderr, e.ProgramName+" serve: ", 0)
	server := s.server()
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		s.onLoopback = true
	} else {
		e.Warnf("-addr %s: the model is accessible from the network without authentication or encryption", r.addr)
	}
	tell := func(format string, args ...any) { // unlike e.Infof, tell also prints repeated messages
		if !e.Quiet {
			fmt.Fprintf(e.Stderr, "%s: %s\n", e.ProgramName, fmt.Sprintf(format, args...))
		}
	}
	tell("serving %s on http://%s", r.model, net.JoinHostPort(host, port))

	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	done := make(chan func(), 1) // functions that complete a reload and report its result
	read := func() {
		next, err := r.load(ctx)
		done <- func() {
			if err != nil {
				s.countReload("failed")
				tell("%v; still serving the model loaded at %s", err, s.current.Load().readTime.Format(time.TimeOnly))
				return
			}
			s.setModel(next)
			s.countReload("done")
			tell("read %s again, %s", r.model, next.description())
			if err := r.setMemoryLimit(s); err != nil {
				tell("%v: requests may be refused", err)
			}
		}
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	asked, looks := again, tick.C // looks is nil during a reload, which may block on a pipe
	for {
		wanted := false
		select {
		case err := <-ended:
			return err
		case <-asked:
			wanted = true
		case <-looks:
			wanted = watch.isReplaced()
		case tells := <-done:
			asked, looks = again, tick.C
			tells()
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
			defer cancel()
			if err := server.Shutdown(ctx); err != nil {
				err = server.Close() // the remaining requests exceed the time limit
				return err
			}
			return nil
		}
		if wanted {
			asked, looks = nil, nil
			watch.recordState()
			go read()
		}
	}
}

// pollInterval is the interval for checking whether the model file was replaced.
const pollInterval = 500 * time.Millisecond

type watcher struct {
	file               string
	readInfo, lastInfo os.FileInfo // states of the file when it was read and last checked; nil if there was no file
}

// recordState records the state of the file. Call it before reading the file.
func (w *watcher) recordState() {
	w.readInfo, _ = os.Stat(w.file)
	w.lastInfo = w.readInfo
}

// isReplaced reports whether the file has been replaced or removed since it was read, and hasn't
// changed since the previous call. A file that is still changing may be incomplete. For a pipe,
// isReplaced returns false.
func (w *watcher) isReplaced() bool {
	now, _ := os.Stat(w.file)
	settled := sameFile(now, w.lastInfo)
	w.lastInfo = now
	return settled && !sameFile(now, w.readInfo) && (now == nil || now.Mode().IsRegular())
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// setMemoryLimit sets the memory limit for connections and requests. The limit is three quarters of
// the memory that the model doesn't use. The other quarter is for garbage. setMemoryLimit fails if
// a request of -max-body bytes may need more than the limit.
func (r *serveFlags) setMemoryLimit(s *service) error {
	budget := r.limits.Budget()
	if budget == 0 {
		return nil
	}
	objects := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(objects)
	model := max(int64(objects[0].Value.Uint64())-s.memory.used.Load(), 0)
	limit := max((budget-backend.RuntimeBytes-model)/4*3, 0)
	s.memory.limit.Store(limit)
	one := (bodyFactor+workFactor)*s.maxBody + 1<<20
	return r.limits.CheckMemory(fmt.Sprintf("-max-body %s", &r.maxBody), budget+(one-limit)/3*4)
}

// listenErrorReason returns the cause of a listen error, without the address.
func listenErrorReason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// loadedModel is a model, optionally with texts for neighbours. It is immutable.
type loadedModel struct {
	name           string
	model          *gram.Model
	classes        map[string]int // class indices by class name
	columns        corpus.Columns // columns of the model's rows; nil if it predicts texts
	minProbability float64        // minimum probability; less probable predictions are rejected

	index    *gram.Index    // index of the -of texts, or nil
	texts    *corpus.Corpus // names, labels and classes of the -of texts, or nil
	readTime time.Time
}

// load reads and prepares the model, and indexes the -of texts.
func (r *serveFlags) load(ctx context.Context) (*loadedModel, error) {
	m, err := gram.Load(r.model)
	if err != nil {
		return nil, fmt.Errorf("-model %w", err)
	}
	o := gram.Options{Workers: 1, MemoryBytes: r.limits.Budget()} // one worker, because requests run concurrently
	out := &loadedModel{name: r.model, model: m.WithOptions(o), classes: map[string]int{}, readTime: time.Now()}
	a := m.About()
	if a.Vocabulary == nil {
		return nil, fmt.Errorf("-model %s was trained on vectors, but serve requires a model trained on texts", r.model)
	}
	for i, class := range a.Classes {
		out.classes[class] = i
	}
	out.minProbability, out.columns = a.MinProbability, a.Tokenizer.Columns()
	if err := out.model.WarmUp(ctx); err != nil {
		return nil, fmt.Errorf("-model %s: %w", r.model, err)
	}
	if r.textsSource == "" {
		return out, nil
	}
	budget := cmp.Or(r.limits.Budget(), 1<<62)
	read := corpus.Options{MinDF: 1, KeepTextBytes: budget / 4, MemoryBytes: budget, Workers: r.limits.Workers}
	if out.columns != nil {
		read.Tokenizer = a.Tokenizer
	}
	out.texts, err = corpus.Read(ctx, r.textsSource, read)
	if err == nil && !out.texts.HasRawDocuments() {
		err = errors.New("the source contains vectors, or its texts do not fit in memory")
	}
	if err == nil {
		texts := make([]string, out.texts.Len())
		for i := range texts {
			texts[i] = out.texts.Text(i)
		}
		out.index, err = gram.NewIndex(ctx, texts, gram.IndexOptions{Options: o})
	}
	if err != nil {
		return nil, fmt.Errorf("-of %s: %w", r.textsSource, err)
	}
	out.texts = &corpus.Corpus{Names: out.texts.Names, Classes: out.texts.Classes, Labels: out.texts.Labels}
	return out, nil
}

func (l *loadedModel) description() string {
	a := l.model.About()
	words := []string{cmp.Or(a.Kernel, a.Type), report.FormatCountOf(len(a.Vocabulary), "term", "terms")}
	if len(a.Classes) > 0 {
		words = append(words, report.FormatCountOf(len(a.Classes), "class", "classes"))
	}
	return strings.Join(words, ", ")
}

// server returns the HTTP server, with timeouts for slow clients.
func (s *service) server() *http.Server {
	return &http.Server{
		Handler: s, ErrorLog: s.errorLog, ConnState: s.trackConnection,
		ReadHeaderTimeout: min(s.timeout, 5*time.Second), ReadTimeout: s.timeout, WriteTimeout: 3 * s.timeout,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}
