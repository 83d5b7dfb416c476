"""PyTorch's ways to the matrix exp(-arccos(s)^2 / t) of sparse documents, held against this back end's on the same documents and the same GPU.

    torch_compare.py DOCUMENTS PAIRS_PER_SECOND [cpu]

DOCUMENTS is what BenchmarkDigest writes of its largest corpus (GRAM_CUDA_DOCUMENTS), some rows of the matrix among it, and PAIRS_PER_SECOND what it measured. Each way computes the whole
matrix, a block at a time, and leaves it on the device; a symmetric product is computed once and mirrored where that saves anything. Times are medians of up to five runs after a first one, fewer
where they take long; a first one of more than 6 s is the only one. Rates count pairs i < j, as everywhere in this project; the error is the greatest difference from this back end's rows, and
more than TOLERANCE of a way in float32 fails. With cpu it runs there, to try the script.
"""
import signal
import statistics
import sys
import time

import torch

T = 0.5  # of the kernel, as in BenchmarkDigest
ENOUGH = 6.0  # seconds after which no run of a way begins; those of a shorter first one do not count
LIMIT = 20  # seconds that a way may take in all
# The cosine of documents of some 140 terms is within 140 / 2^24 in float32; 2 arccos(s) / (T sqrt(1 - s^2)) times the kernel, its slope, is at most 2 / T; and as much again for arccos near 1.
TOLERANCE = 2 * 140 / 2**24 * 2 / T


def read(path):
    data = bytearray(open(path, "rb").read())
    at = 0

    def take(kind, count):
        nonlocal at
        values = torch.frombuffer(data, dtype=kind, count=count, offset=at)
        at += values.numel() * values.element_size()
        return values

    n, terms, values, rows = take(torch.int64, 4).tolist()
    x = torch.sparse_csr_tensor(take(torch.int64, n + 1), take(torch.int32, values).long(), take(torch.float32, values), (n, terms))
    return x, take(torch.int64, rows), take(torch.float32, rows * n).reshape(rows, n)


def kernel(s):
    return s.clamp_(-1, 1).arccos_().square_().mul_(-1 / T).exp_()


def measured(device, work):
    times = []
    while not times or (len(times) < 6 and times[0] < ENOUGH and sum(times[1:]) < ENOUGH):
        begin = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    counted = times[1:] or times
    return statistics.median(counted), len(counted)


def too_long(*_):
    raise RuntimeError(f"no end within {LIMIT} s")


class Ways:
    def __init__(self, x, device):
        self.n, self.terms = x.shape
        self.x = x.to(device)
        self.out = torch.empty(self.n, self.n, device=device)
        self.dense = None

    def part(self, lo, hi):
        offsets = self.x.crow_indices()[lo : hi + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        return torch.sparse_csr_tensor(offsets - first, self.x.col_indices()[first:last], self.x.values()[first:last], (hi - lo, self.terms))

    def blocks(self, size):
        for lo in range(0, self.n, size):
            yield lo, min(lo + size, self.n)

    def sparse_dense(self):
        for lo, hi in self.blocks(max(1, (8 << 30) // (4 * self.terms))):
            self.out[:, lo:hi] = kernel(torch.sparse.mm(self.x, self.part(lo, hi).to_dense().t().contiguous()))

    def dense_dense(self):
        x = self.x.to_dense()  # part of the way: documents are sparse
        for lo, hi in self.blocks(10_000):
            for lo2, hi2 in self.blocks(10_000):
                if lo2 > lo:
                    break
                part = kernel(x[lo:hi] @ x[lo2:hi2].t())
                self.out[lo:hi, lo2:hi2] = part
                self.out[lo2:hi2, lo:hi] = part.t()

    def float32(self):
        torch.backends.cuda.matmul.allow_tf32 = False
        self.dense_dense()

    def tf32(self):
        torch.backends.cuda.matmul.allow_tf32 = True
        self.dense_dense()

    def sparse_sparse(self):
        columns = self.x.to_sparse_coo().t().coalesce().to_sparse_csr()
        for lo, hi in self.blocks(2_000):
            self.out[lo:hi] = kernel(torch.sparse.mm(self.part(lo, hi), columns).to_dense())


def main():
    path, ours = sys.argv[1], float(sys.argv[2])
    device = torch.device(sys.argv[3] if len(sys.argv) > 3 else "cuda")
    x, rows, expected = read(path)
    n = x.shape[0]
    name = torch.cuda.get_device_name() if device.type == "cuda" else "processor"
    print(f"PyTorch {torch.__version__}, {name}: {n} documents, {x.values().numel() / n:.0f} terms each, {x.shape[1]} terms")
    print(f"{'this back end':32s} {n * (n - 1) / 2 / ours:9.3f} s {ours:12.4g} pairs/s", flush=True)
    ways = Ways(x, device)
    best, wrong = None, []
    signal.signal(signal.SIGALRM, too_long)
    for name, work in [("sparse x dense, float32", ways.sparse_dense), ("dense x dense, TF32", ways.tf32), ("dense x dense, float32", ways.float32), ("sparse x sparse", ways.sparse_sparse)]:
        try:
            ways.out.zero_()
            signal.alarm(LIMIT)
            seconds, runs = measured(device, work)
            error = (ways.out[rows.to(device)].cpu() - expected).abs().max().item()
        except RuntimeError as e:  # one way that doesn't fit leaves the others
            print(f"{name:32s} {str(e).splitlines()[0]}", flush=True)
            if device.type == "cuda":
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            continue
        finally:
            signal.alarm(0)
        rate = n * (n - 1) / 2 / seconds
        print(f"{name:32s} {seconds:9.3f} s {rate:12.4g} pairs/s  {ours / rate:8.1f} times as long, {runs} runs, error {error:.1e}", flush=True)
        if name != "dense x dense, TF32" and not error <= TOLERANCE:
            wrong.append(name)
        if best is None or rate > best[0]:
            best = rate, name
    if best is None:
        sys.exit("none of PyTorch's ways came to an end")
    print(f"this back end is {ours / best[0]:.1f} times as fast as PyTorch's best way, {best[1]}")
    if wrong:
        sys.exit(f"more than {TOLERANCE:.1e} from this back end's rows: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
