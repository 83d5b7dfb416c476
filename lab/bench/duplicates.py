"""Pairs of near-duplicates, against MinHash (datasketch, rensa), sparse_dot_topn and string_grouper.

All programs search for pairs with a cosine of at least 1 - within: gram and sparse_dot_topn exactly, string_grouper
with its own weights. MinHash reports pairs that share a band and whose estimated Jaccard similarity is at least (1 -
within) / (1 + within), the similarity of two sets of equal size with this cosine. A pair is right if its exact cosine
is at least 1 - within. Times start with vectors or sets in memory and end with pairs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from go_random import Random
from measure import MEASURED, Bench, Contender, Run, installed, measured, read_lines, table, timed, write_lines

NAMES = 66_000
PEERS = {"sparse_dot_topn": "sparse_dot_topn", "string_grouper": "string_grouper", "datasketch, 128": "datasketch",
         "datasketch, 256": "datasketch", "rensa, 128": "rensa", "rensa, 256": "rensa"}


class Corpus(NamedTuple):
    name: str
    source: str
    within: float = 0.02
    embedding: str = "tf-l1-sqrt"
    flags: tuple[str, ...] = ("-min-df", "1")  # duplicates counts all words


CORPORA = [
    Corpus("20 Newsgroups", "20news-bydate/train.tsv.gz"),
    Corpus("synthetic, one in twenty a copy", "synthetic:docs=50000,terms=30000,length=140,copies=50,changed=1"),
    Corpus("names", "names.txt", 0.2, "tfidf-l2",
           ("-format", "lines", "-analyzer", "char", "-ngrams", "3", "-min-df", "1")),
]

SYLLABLES = """al an ar bel bor cal car con dan del dor el en fer gal gen hal han in jor kal kor lan len lin lor mal mar
mer mon nal nor ol or pan per ran rel rin ros sal san ser sol tal tan tel tor val van ver vin wel""".split()
TRADES = """holdings logistics energy foods systems capital partners trading software media steel pharma motors textiles
consulting engineering properties insurance chemicals airlines""".split()
FORMS = "inc ltd llc gmbh corp plc sa ag limited co".split()


def company_names(count: int) -> list[str]:
    """Returns made-up names, always the same. One in ten is a variant of another: a changed letter or company form."""
    random, names = Random(3, 1), []
    pick = lambda items: items[random.below(len(items))]
    while len(names) < count:
        if names and random.below(10) == 0:
            name = pick(names)
            at, letter = random.below(len(name)), chr(ord("a") + random.below(26))
            name = name[:at] + letter + name[at + 1:]
            names.append(name if random.below(2) else name[:name.rfind(" ") + 1] + pick(FORMS))
            continue
        words = ["".join(pick(SYLLABLES) for _ in range(2 + random.below(3))) for _ in range(1 + random.below(2))]
        names.append(" ".join([*words, pick(TRADES), pick(FORMS)]))
    return names


def minhash(x: Any, within: float, library: str, permutations: int) -> list[tuple[int, int]]:
    jaccard = (1 - within) / (1 + within)
    sets = [x.indices[x.indptr[i]:x.indptr[i + 1]].tolist() for i in range(x.shape[0])]
    if library == "datasketch":
        from datasketch import MinHash, MinHashLSH

        tokens = [[b"%d" % t for t in s] for s in sets]
        index = MinHashLSH(threshold=jaccard, num_perm=permutations)
        hashes, options = lambda: MinHash.bulk(tokens, num_perm=permutations), {"check_duplication": False}
    else:
        from rensa import RMinHash, RMinHashLSH

        tokens = [[str(t) for t in s] for s in sets]
        divisors = [b for b in range(1, permutations + 1) if permutations % b == 0]
        bands = min(divisors, key=lambda b: abs((1 / b) ** (b / permutations) - jaccard))
        index = RMinHashLSH(threshold=jaccard, num_perm=permutations, num_bands=bands)
        hashes, options = lambda: RMinHash.from_token_sets(tokens, num_perm=permutations, seed=1), {}

    def search() -> list[tuple[int, int]]:
        pairs, all_hashes = [], hashes()
        for i, h in enumerate(all_hashes):
            pairs += [(j, i) for j in index.query(h) if h.jaccard(all_hashes[j]) >= jaccard]
            index.insert(i, h, **options)
        return pairs

    return timed(search)


def search(vectors: str, texts: str, threads: int, within: float, peer: str) -> dict[str, int]:
    """Searches with a peer and counts the pairs that it found, and how many of them are right."""
    import numpy
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import normalize

    x = normalize(load_svmlight_file(vectors, multilabel=True)[0].tocsr())
    if peer == "sparse_dot_topn":
        from sparse_dot_topn import sp_matmul_topn

        a, b = x.astype(numpy.float32), x.T.tocsr().astype(numpy.float32)
        found = timed(lambda: sp_matmul_topn(a, b, top_n=1000, threshold=1 - within, n_threads=threads).tocoo())
        pairs = numpy.column_stack([found.row, found.col])
    elif peer == "string_grouper":
        import pandas
        from string_grouper import match_strings

        names = pandas.Series(read_lines(Path(texts)))
        pairs = timed(lambda: match_strings(names, min_similarity=1 - within, max_n_matches=1000,
                                            number_of_processes=threads))[["left_index", "right_index"]]
    else:
        library, permutations = peer.split(", ")
        pairs = minhash(x, within, library, int(permutations))
    pairs = numpy.asarray(pairs, dtype=numpy.int64).reshape(-1, 2)
    pairs = numpy.unique(numpy.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    right = 0
    for at in range(0, len(pairs), 1 << 16):
        left, other = pairs[at:at + (1 << 16)].T
        right += int((x[left].multiply(x[other]).sum(axis=1) >= 1 - within - 1e-8).sum())
    return {"found": len(pairs), "right": right}


def main(bench: Bench) -> None:
    for corpus in bench.chosen(CORPORA):
        source = corpus.source
        if corpus.name == "names":
            source = write_lines(bench.folder / source, company_names(NAMES))
        elif not source.startswith("synthetic:"):
            source = bench.find(source)[0]
        vectors = bench.vectors(source, corpus.embedding, "vectors.svm", *corpus.flags)

        def ours() -> Run:
            run = bench.run_gram("duplicates", "-in", source, "-within", corpus.within, "-embed", corpus.embedding,
                                 "-o", bench.folder / "groups", *corpus.flags)
            found = run.result["pairs_within"]
            return run._replace(seconds=run.result["seconds_search"], result={"found": found, "right": found})

        contenders = [Contender("gram duplicates", ours)]
        for peer, module in PEERS.items():
            if (peer != "string_grouper" or corpus.name == "names") and installed(module, "sklearn"):
                contenders.append(Contender(peer, lambda peer=peer: bench.call(
                    search, vectors=vectors, texts=source, threads=bench.threads, within=corpus.within, peer=peer)))
        bench.interleave(contenders)
        pairs, rows = contenders[0].runs[0].result["found"], []
        for c in contenders:
            found, right = (c.runs[-1].result[name] for name in ("found", "right"))
            missed = max(pairs - right, 0) / max(pairs, 1)
            rows.append([c.name, *measured(c, contenders[0]), f"{found:,}", f"{100 * missed:.1f} %",
                         f"{found - right:,}"])
        table(f"{corpus.name}: {pairs:,} pairs within {corpus.within}",
              ["program", *MEASURED, "pairs found", "missed", "invented"], rows)
