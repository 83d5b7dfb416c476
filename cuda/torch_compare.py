"""PyTorch's ways to the matrix exp(-arccos(s)^2 / t) of sparse documents, on the GPU that it finds: rates to hold those of this back end against.

Documents are drawn as Zipf's law has it, about as many distinct terms each as the argument says. Each way computes the whole matrix, a block of rows at a time, and leaves it on
the device; the times are medians of five, by CUDA events, after a first run. Rates count pairs i < j, as everywhere in this project.
"""
import statistics
import sys

import torch


def documents(n, terms, length, generator):
    weights = 1 / (torch.arange(terms, dtype=torch.float64) + 2.7)
    drawn = torch.multinomial(weights, n * length, replacement=True, generator=generator).reshape(n, length).sort(dim=1).values
    first = torch.ones_like(drawn, dtype=torch.bool)
    first[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    row = torch.arange(n).unsqueeze(1).expand_as(drawn)[first]
    at = first.flatten().cumsum(0) - 1
    counts = torch.zeros(int(at[-1]) + 1).index_add_(0, at, torch.ones(n * length))
    return torch.sparse_coo_tensor(torch.stack([row, drawn[first]]), (counts / length).sqrt(), (n, terms)).coalesce()


def kernel(s, t=0.5):
    return s.clamp_(-1, 1).arccos_().square_().mul_(-1 / t).exp_()


def measured(work):
    times = []
    for round_ in range(6):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        if round_ > 0:
            times.append(begin.elapsed_time(end) / 1000)
    return statistics.median(times)


def main():
    n, terms, length = (int(a) for a in sys.argv[1:4])
    device = torch.device("cuda")
    x = documents(n, terms, length, torch.Generator().manual_seed(1))
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}: {n} documents, {x.values().numel() / n:.0f} terms each, {terms} terms")
    out = torch.empty(n, n, device=device)
    sparse = x.to_sparse_csr().to(device)
    block = max(1, min(n, (8 << 30) // (4 * terms)))

    def sparse_dense():
        for lo in range(0, n, block):
            hi = min(lo + block, n)
            rows = dense_rows(lo, hi)
            out[:, lo:hi] = kernel(torch.sparse.mm(sparse, rows.t().contiguous()))

    def dense_rows(lo, hi):
        part = torch.sparse_csr_tensor(sparse.crow_indices()[lo : hi + 1] - sparse.crow_indices()[lo],
                                       sparse.col_indices()[sparse.crow_indices()[lo] : sparse.crow_indices()[hi]],
                                       sparse.values()[sparse.crow_indices()[lo] : sparse.crow_indices()[hi]], (hi - lo, terms))
        return part.to_dense()

    def dense_dense():
        for lo in range(0, n, block):
            a = dense_rows(lo, min(lo + block, n))
            for lo2 in range(0, n, block):
                b = dense_rows(lo2, min(lo2 + block, n))
                out[lo : lo + len(a), lo2 : lo2 + len(b)] = kernel(a @ b.t())

    def sparse_sparse():
        product = torch.sparse.mm(sparse, sparse.t().to_sparse_csr())
        out.copy_(kernel(product.to_dense()))

    def float32():
        torch.backends.cuda.matmul.allow_tf32 = False
        dense_dense()

    def tf32():
        torch.backends.cuda.matmul.allow_tf32 = True
        dense_dense()

    for name, work in [("sparse x dense, float32", sparse_dense), ("dense x dense, float32", float32), ("dense x dense, TF32 (3 digits)", tf32), ("sparse x sparse", sparse_sparse)]:
        try:
            seconds = measured(work)
            print(f"{name:32s} {seconds:9.3f} s {n * (n - 1) / 2 / seconds:12.4g} pairs/s")
        except RuntimeError as e:  # one way that doesn't fit leaves the others
            print(f"{name:32s} {str(e).splitlines()[0]}")
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
