"""The leading kernel principal components of MNIST's 10,000 test digits, against scikit-learn's KernelPCA.

The dense solver is exact, the randomised solver fast. Errors are the maximum relative differences from the dense
eigenvalues. gram's times include reading and writing files. The comparison fails if gram's error exceeds 1e-5.
"""

from __future__ import annotations

from measure import MEASURED, Bench, Contender, Failure, installed, measured, table, timed

COMPONENTS, GAMMA = 300, 0.02


def kernel_pca(digits: str, solver: str, components: int) -> list[float]:
    """Returns the eigenvalues."""
    import gzip

    import numpy
    from sklearn.decomposition import KernelPCA

    with gzip.open(digits) as file:
        x = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 784) / 255.0
    machine = KernelPCA(components, kernel="rbf", gamma=GAMMA, eigen_solver=solver, random_state=1)
    return timed(lambda: machine.fit(x)).eigenvalues_.tolist()


def main(bench: Bench) -> None:
    digits, kernel = bench.find("mnist/t10k-images-idx3-ubyte.gz")[0], f"rbf:gamma={GAMMA}"
    contenders = [Contender("gram pca", lambda: bench.run_gram(
        "pca", "-in", digits, "-kernel", kernel, "-components", COMPONENTS, "-o", bench.folder / "Z.npy"))]
    if installed("sklearn"):
        contenders += [Contender(f"scikit-learn, {solver}", lambda solver=solver: bench.call(
            kernel_pca, digits=digits, solver=solver, components=COMPONENTS)) for solver in ("dense", "randomized")]
    bench.interleave(contenders)
    values = [c.runs[-1].result for c in contenders]
    values[0] = [row["eigenvalue"] for row in values[0]["rows"]]
    errors = [max(abs(a - b) / b for a, b in zip(own, values[1], strict=True)) for own in values if len(values) > 1]
    table(f"{COMPONENTS} components of 10,000 digits, {kernel}", ["program", *MEASURED, "error of eigenvalues"],
          [[c.name, *measured(c, contenders[0]), f"{e:.1e}" if errors else ""]
           for c, e in zip(contenders, errors or [0.0])])
    if errors and not errors[0] <= 1e-5:
        raise Failure(f"an eigenvalue of gram differs by {errors[0]:.1e} of its value, allowed 1e-5")
