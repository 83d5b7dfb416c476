// A CUDA driver for tests, libcuda.so.1: one device whose memory is the machine's and whose kernels
// are kernels/gram.cu compiled for the CPU.
//
// It checks what it is given: contexts are a thread's own, memory is what was allocated and is NaN
// at first, what a stream is given runs no earlier than somebody waits for it, so that a missing
// wait shows. FAKE_FAIL=call:n:result lets the n-th call of a function since then, and all later
// ones, fail; with :once at its end that call alone. FAKE_MEMORY and FAKE_SHARED are the bytes of
// the device's and of a block's memory; FAKE_DEVICES is how many devices there are. Attributes from
// 1000 on of the device count what is not given back, and the calls that FAKE_FAIL is about; a file
// by the name of FAKE_TOLD says that one failed. With FAKE_STRICT=1 the last release of the context
// fails if anything is not given back.
//
// A call that fails does nothing, with two exceptions. One that gives something back does so: its
// error is that of something that ran before, as the driver has it. One that waits finds that what
// it waited for came to nothing: it is thrown away, so that whoever goes on as if it were there has
// NaN or what was there before.
#include "kernels.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <set>
#include <sys/mman.h>

typedef unsigned long long P;
enum {
	OK,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	INVALID_CONTEXT = 201,
	INVALID_PTX = 218,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	NOT_READY = 600,
	NO_BINARY = 209,
	NO_DEVICE = 100,
	LEFT_BEHIND = 999
};

static std::recursive_mutex mutex;
static std::map<P, size_t> device; // allocations of the device
static std::map<void *, size_t> host;
static std::map<void *, std::string> handles; // modules: what they are made of
static int retained;
static thread_local bool haveContext;
static std::string armed; // FAKE_FAIL when it was last looked at
static long calls, failures; // of its function since then

static long setting(const char *name, long otherwise) {
	const char *v = getenv(name);
	return v && *v ? atol(v) : otherwise;
}

// fails says what a call is to fail with, 0 for not at all.
static int fails(const char *name) {
	const char *v = getenv("FAKE_FAIL");
	if (!v) v = "";
	if (armed != v) armed = v, calls = failures = 0;
	const size_t length = strlen(name);
	if (strncmp(v, name, length) || v[length] != ':') return 0;
	calls++;
	char *end;
	const long at = strtol(v + length + 1, &end, 10);
	const int result = (int)strtol(end + 1, &end, 10);
	if (calls < at || (calls > at && !strcmp(end, ":once"))) return 0;
	failures++;
	if (const char *file = getenv("FAKE_TOLD"); file && *file)
		if (FILE *f = fopen(file, "a")) fclose(f);
	return result;
}

#define API extern "C" __attribute__((visibility("default"))) int
#define BEGIN                                                                                     \
	std::lock_guard<std::recursive_mutex> lock(mutex);                                            \
	if (int f = fails(__func__)) return f;
#define IN_CONTEXT                                                                                \
	BEGIN if (!haveContext) return INVALID_CONTEXT;
// What fails although it does its work.
#define DOING                                                                                     \
	std::lock_guard<std::recursive_mutex> lock(mutex);                                            \
	const int failure = fails(__func__);
#define DOING_IN_CONTEXT                                                                          \
	DOING if (!haveContext) return INVALID_CONTEXT;

static bool inside(P p, size_t n) {
	auto it = device.upper_bound(p);
	if (it == device.begin()) return false;
	--it;
	return p + n <= it->first + it->second;
}

// A stream is what it still has to do; an event is how far a stream had come when it was recorded.
struct Stream {
	std::deque<std::function<int()>> todo;
	long done = 0, added = 0;
	int error = 0;
	void run(long upTo, bool lost = false) {
		while (done < upTo && !todo.empty()) {
			auto f = todo.front();
			todo.pop_front();
			done++;
			if (int e = lost ? 0 : f()) error = e;
		}
	}
	void add(std::function<int()> f) {
		todo.push_back(f);
		added++;
	}
};
struct Event {
	bool timed;
	Stream *stream = nullptr;
	long at = 0;
	bool reached = false; // of one that is timed
	double seconds = 0;
};
static std::set<Stream *> streams;
static std::set<Event *> events;

API cuInit(unsigned) { return setting("FAKE_DEVICES", 1) ? OK : NO_DEVICE; }
API cuDriverGetVersion(int *v) {
	BEGIN *v = 12080;
	return OK;
}
API cuDeviceGetCount(int *n) {
	BEGIN *n = (int)setting("FAKE_DEVICES", 1);
	return OK;
}
API cuDeviceGet(int *d, int i) {
	BEGIN if (i) return INVALID_VALUE;
	*d = 0;
	return OK;
}
API cuDeviceGetName(char *s, int n, int) {
	BEGIN snprintf(s, n, "fake GPU");
	return OK;
}
static int count(int *v, int a);
API cuDeviceGetAttribute(int *v, int a, int) {
	if (a >= 1000) return count(v, a);
	BEGIN switch (a) {
	case 16: *v = 3; break; // multiprocessors
	case 75: *v = 9; break; // compute capability
	case 76: *v = 0; break;
	case 97: *v = (int)setting("FAKE_SHARED", 48 << 10); break;
	default: return INVALID_VALUE;
	}
	return OK;
}
// count serves tests, and is no call that could fail.
static int count(int *v, int a) {
	std::lock_guard<std::recursive_mutex> lock(mutex);
	switch (a) {
	case 1000: *v = (int)device.size(); break;
	case 1001: *v = (int)host.size(); break;
	case 1002: *v = (int)(handles.size() + streams.size() + events.size()); break;
	case 1003: *v = retained; break;
	case 1004: *v = (int)calls; break;
	case 1005: *v = (int)failures; break;
	default: // of each allocation of the device in turn its address, low and high, and its bytes
		if (a < 2001 || (size_t)(a - 2001) / 3 >= device.size()) return INVALID_VALUE;
		const auto &[at, bytes] = *std::next(device.begin(), (a - 2001) / 3);
		*v = (int)(a % 3 == 0 ? at : a % 3 == 1 ? at >> 32 : bytes);
	}
	return OK;
}
API cuDevicePrimaryCtxRetain(void **c, int) {
	BEGIN retained++;
	*c = &retained;
	return OK;
}
API cuDevicePrimaryCtxRelease_v2(int) {
	DOING if (!retained) return INVALID_CONTEXT;
	if (--retained || failure || !setting("FAKE_STRICT", 0)) return failure;
	return device.empty() && host.empty() && handles.empty() && streams.empty() && events.empty() ? OK : LEFT_BEHIND;
}
API cuCtxSetCurrent(void *c) {
	BEGIN if (c && (c != &retained || !retained)) return INVALID_CONTEXT;
	haveContext = c;
	return OK;
}
// A cubin has its kernels' names in it, and here no code that is run; its length is where its
// section headers or segments end.
static int loadCubin(void **m, const char *image) {
	const auto field = [&](int at, int bytes) {
		unsigned long long v = 0;
		memcpy(&v, image + at, bytes);
		return v;
	};
	const unsigned long long flags = field(48, 4), sm = image[8] >= 8 ? flags >> 8 & 255 : flags & 255;
	if (sm / 10 != 9) return NO_BINARY;
	const size_t length = std::max(field(40, 8) + field(58, 2) * field(60, 2), field(32, 8) + field(54, 2) * field(56, 2));
	handles[*m = malloc(1)] = std::string(image, length);
	return OK;
}
API cuModuleLoadDataEx(void **m, const char *image, unsigned n, int *options, void **values) {
	IN_CONTEXT if (!memcmp(image, "\x7f" "ELF", 4)) return loadCubin(m, image);
	if (!strstr(image, ".version 7.0") || !strstr(image, ".target sm_80")) {
		for (unsigned i = 0; i + 1 < n; i++)
			// the error log and its size
			if (options[i] == 5 && (size_t)values[i + 1] > 20) strcpy((char *)values[i], "no PTX");
		return INVALID_PTX;
	}
	handles[*m = malloc(1)] = image;
	return OK;
}
API cuModuleUnload(void *m) {
	DOING_IN_CONTEXT if (!handles.erase(m)) return INVALID_HANDLE;
	free(m);
	return failure;
}
API cuModuleGetFunction(void **f, void *m, const char *name) {
	IN_CONTEXT if (!handles.count(m)) return INVALID_HANDLE;
	auto it = cpu::kernels().find(name);
	if (it == cpu::kernels().end() || handles[m].find(name) == std::string::npos) return NOT_FOUND;
	*f = &it->second;
	return OK;
}
static std::map<void *, int> allowed; // dynamic shared memory of functions
API cuFuncSetAttribute(void *f, int attribute, int value) {
	IN_CONTEXT if (attribute != 8 || value > setting("FAKE_SHARED", 48 << 10)) return INVALID_VALUE;
	allowed[f] = value;
	return OK;
}
API cuStreamCreate(void **s, unsigned) {
	IN_CONTEXT auto *stream = new Stream;
	streams.insert(stream);
	*s = stream;
	return OK;
}
API cuStreamDestroy_v2(Stream *s) {
	DOING_IN_CONTEXT if (!streams.erase(s)) return INVALID_HANDLE;
	s->run(s->added);
	delete s;
	return failure;
}
API cuStreamSynchronize(Stream *s) {
	DOING_IN_CONTEXT if (!streams.count(s)) return INVALID_HANDLE;
	s->run(s->added, failure);
	return failure ? failure : s->error;
}
API cuStreamWaitEvent(Stream *s, Event *e, unsigned) {
	IN_CONTEXT if (!streams.count(s) || !events.count(e)) return INVALID_HANDLE;
	Stream *of = e->stream;
	long at = e->at;
	s->add([of, at] {
		if (of) of->run(at);
		return of ? of->error : 0;
	});
	return OK;
}
API cuEventCreate(void **e, unsigned flags) {
	IN_CONTEXT auto *event = new Event{!(flags & 2)};
	events.insert(event);
	*e = event;
	return OK;
}
API cuEventDestroy_v2(Event *e) {
	DOING_IN_CONTEXT if (!events.erase(e)) return INVALID_HANDLE;
	delete e;
	return failure;
}
API cuEventRecord(Event *e, Stream *s) {
	IN_CONTEXT if (!events.count(e) || !streams.count(s)) return INVALID_HANDLE;
	e->stream = s;
	e->reached = false;
	if (e->timed)
		s->add([e] {
			if (!events.count(e)) return 0;
			e->reached = true;
			e->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
			return 0;
		});
	e->at = s->added;
	return OK;
}
API cuEventSynchronize(Event *e) {
	DOING_IN_CONTEXT if (!events.count(e)) return INVALID_HANDLE;
	if (e->stream) {
		e->stream->run(e->at, failure);
		return failure ? failure : e->stream->error;
	}
	return failure;
}
API cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
	IN_CONTEXT if (!events.count(from) || !events.count(to) || !from->timed || !to->timed) return INVALID_HANDLE;
	if (!from->reached || !to->reached) return NOT_READY;
	*milliseconds = (float)(1e3 * (to->seconds - from->seconds));
	return OK;
}
static size_t taken() {
	size_t sum = 0;
	for (auto &a : device) sum += a.second;
	return sum;
}
API cuMemGetInfo_v2(size_t *available, size_t *total) {
	IN_CONTEXT *total = setting("FAKE_MEMORY", 1 << 30);
	*available = *total - taken();
	return OK;
}
API cuMemAlloc_v2(P *p, size_t n) {
	IN_CONTEXT if (!n) return INVALID_VALUE;
	if (taken() + n > (size_t)setting("FAKE_MEMORY", 1 << 30)) return OUT_OF_MEMORY;
	// At the end of pages, behind which nothing may be touched.
	const size_t page = 4096, rounded = (n + 15) & ~(size_t)15, pages = (rounded + page - 1) / page * page;
	char *base = (char *)mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED) return OUT_OF_MEMORY;
	mprotect(base + pages, page, PROT_NONE);
	*p = (P)(base + pages - rounded);
	device[*p] = n;
	memset((void *)*p, 0xff, n);
	return OK;
}
static void settle();
API cuMemFree_v2(P p) {
	DOING_IN_CONTEXT settle();
	auto it = device.find(p);
	if (it == device.end()) return INVALID_VALUE;
	const size_t page = 4096, rounded = (it->second + 15) & ~(size_t)15, pages = (rounded + page - 1) / page * page;
	munmap((char *)p + rounded - pages, pages + page);
	device.erase(it);
	return failure;
}
API cuMemHostAlloc(void **p, size_t n, unsigned) {
	IN_CONTEXT if (!n) return INVALID_VALUE;
	*p = aligned_alloc(256, (n + 255) & ~(size_t)255);
	memset(*p, 0xff, n);
	host[*p] = n;
	return OK;
}
API cuMemFreeHost(void *p) {
	DOING_IN_CONTEXT if (!host.erase(p)) return INVALID_VALUE;
	free(p);
	return failure;
}
// A copy to the device may still be under way when the call returns, unless it is from page-locked
// memory; here it waits for whoever waits for it.
static std::deque<std::function<void()>> pending;
static void settle() {
	for (; !pending.empty(); pending.pop_front()) pending.front()();
}
API cuMemcpyHtoD_v2(P d, const void *s, size_t n) {
	IN_CONTEXT if (!inside(d, n)) return INVALID_VALUE;
	auto it = host.upper_bound((void *)s);
	if (it != host.begin() && (char *)s + n <= (char *)(--it)->first + it->second) {
		settle();
		memcpy((void *)d, s, n);
		return OK;
	}
	std::vector<char> staged((const char *)s, (const char *)s + n);
	pending.push_back([=] { memcpy((void *)d, staged.data(), staged.size()); });
	return OK;
}
API cuCtxSynchronize() {
	DOING_IN_CONTEXT if (failure) pending.clear();
	settle();
	for (Stream *s : streams) s->run(s->added, failure);
	return failure;
}
API cuMemcpyDtoH_v2(void *d, P s, size_t n) {
	IN_CONTEXT if (!inside(s, n)) return INVALID_VALUE;
	settle();
	memcpy(d, (void *)s, n);
	return OK;
}
API cuMemcpyDtoHAsync_v2(void *d, P s, size_t n, Stream *stream) {
	IN_CONTEXT if (!inside(s, n) || !streams.count(stream)) return INVALID_VALUE;
	auto it = host.upper_bound(d);
	// not page-locked: it wouldn't run beside anything
	if (it == host.begin() || (char *)d + n > (char *)(--it)->first + it->second) return INVALID_VALUE;
	stream->add([=] {
		memcpy(d, (void *)s, n);
		return 0;
	});
	return OK;
}
API cuLaunchKernel(cpu::Kernel *k, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, Stream *s, void **parameters, void **) {
	IN_CONTEXT if (!gx || !gy || gz != 1 || gy > 65535 || !bx || bx > 1024 || by != 1 || bz != 1) return INVALID_VALUE;
	if (!streams.count(s)) return INVALID_HANDLE;
	if (shared > 48 << 10 && (!allowed.count(k) || (int)shared > allowed[k])) return INVALID_VALUE;
	enum { MOST = 8 };
	// of what the pointers point to, which may be gone when the stream comes to it
	std::vector<unsigned long long> copy;
	for (int i = 0; i < MOST; i++) copy.push_back(0);
	for (int i = 0; i < k->parameters; i++) copy[i] = *(unsigned long long *)parameters[i];
	s->add([=] {
		auto values = copy;
		void *pointers[MOST];
		for (int i = 0; i < MOST; i++) pointers[i] = &values[i];
		cpu::launch(*k, {gx, gy}, {bx, 1}, shared, pointers);
		return 0;
	});
	return OK;
}
API cuGetErrorName(int, const char **s) {
	*s = "error";
	return OK;
}
