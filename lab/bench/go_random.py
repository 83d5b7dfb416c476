"""Random numbers equal to Go's, to divide documents into the same folds as `gram cv` and `gram grid`."""

MASK = (1 << 64) - 1


class Random:
    """Go's math/rand/v2 with its PCG-DXSM generator (O'Neill, pcg-random.org)."""

    def __init__(self, high: int, low: int):
        self.state = high << 64 | low

    def uint64(self) -> int:
        self.state = (self.state * (2549297995355413924 << 64 | 4865540595714422341)
                      + (6364136223846793005 << 64 | 1442695040888963407)) % (1 << 128)
        high, low = self.state >> 64, self.state & MASK
        high ^= high >> 32
        high = high * 0xDA942042E4DD58B5 & MASK
        high ^= high >> 48
        return high * (low | 1) & MASK

    def below(self, n: int) -> int:
        """Returns a number from 0 to n-1."""
        return self.uint64() & (n - 1) if n & (n - 1) == 0 else self.uint64() * n >> 64  # Go rejects one in 2⁵⁰


def folds(classes: list[str], count: int, seed: int = 1) -> list[int]:
    """Returns the fold of each document, stratified by class."""
    members: dict[str, list[int]] = {}
    for i, name in enumerate(classes):
        members.setdefault(name, []).append(i)
    random, fold, following = Random(seed, count), [0] * len(classes), 0
    for documents in members.values():
        for i in range(len(documents) - 1, 0, -1):
            j = random.below(i + 1)
            documents[i], documents[j] = documents[j], documents[i]
        for i in documents:
            fold[i], following = following, (following + 1) % count
    return fold
