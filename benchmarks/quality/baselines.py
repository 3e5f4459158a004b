"""What others reach on the same questions: figures to stand beside ours.

Published: the benchmark that semble publishes with its code, NDCG@10 as the mean over repositories; unless
"all 63" is said, over the 32 repositories of the development half, from its results per repository. For issue
reports the figures that ChronoRepo and LocAgent publish for the whole of SWE-bench Lite. Measured: plain BM25
over chunks of 50 lines with split identifiers and the words of the path, no ranking rules, over exactly these
questions, scored by the same metrics.
"""

from __future__ import annotations

from typing import NamedTuple


class Baseline(NamedTuple):
    """One other system; the cells are by column of the table."""

    name: str
    cells: dict[str, float]


MEASURED = {
    "semble": Baseline(
        "BM25 (measured)",
        {"macro": 0.642, "ndcg": 0.642, "files": 0.693, "r@1": 0.425, "r@5": 0.822, "r@10": 0.923}
        | {"all@5": 0.782, "2k": 0.721, "4k": 0.843, "8k": 0.920},
    ),
    "swe_lite": Baseline(
        "BM25 (measured)",
        {"macro": 0.576, "ndcg": 0.524, "files": 0.582, "r@1": 0.379, "r@5": 0.707, "r@10": 0.776}
        | {"all@5": 0.707, "2k": 0.586, "4k": 0.672, "8k": 0.776},
    ),
    "swe_multi": Baseline(
        "BM25 (measured)",
        {"macro": 0.286, "ndcg": 0.307, "files": 0.354, "r@1": 0.160, "r@5": 0.432, "r@10": 0.521}
        | {"all@5": 0.393, "2k": 0.381, "4k": 0.438, "8k": 0.518},
    ),
}

PUBLISHED = {
    "semble": (
        Baseline("CodeRankEmbed 137M + BM25", {"macro": 0.865}),
        Baseline("semble", {"macro": 0.851}),
        Baseline("CodeRankEmbed 137M", {"macro": 0.840}),
        Baseline("ColGREP", {"macro": 0.691}),
        Baseline("codebase-memory-mcp", {"macro": 0.630}),
        Baseline("ck (bge-small hybrid)", {"macro": 0.619}),
        Baseline("grepai", {"macro": 0.581}),
        Baseline("probe", {"macro": 0.362}),
        Baseline("cs", {"macro": 0.201}),
        Baseline("ripgrep", {"macro": 0.114}),
        Baseline("voyage-code-4 hybrid (hosted), 59 of 63", {"macro": 0.885}),
        Baseline("semble, all 63", {"macro": 0.854, "1k": 0.923, "2k": 0.967, "4k": 0.988, "8k": 0.995}),
    ),
    "swe_lite": (
        Baseline("BM25, whole set", {"all@5": 0.483}),
        Baseline("ChronoRepo without LLM, whole set", {"all@5": 0.720}),
        Baseline("ChronoRepo with a 7B LLM, whole set", {"all@5": 0.800}),
        Baseline("LocAgent with a large LLM, whole set", {"all@5": 0.937}),
    ),
}

BY_CATEGORY = {  # all 63 repositories
    "architecture": (
        Baseline("semble, all 63", {"ndcg": 0.802}),
        Baseline("hybrid, all 63", {"ndcg": 0.811}),
    ),
    "semantic": (Baseline("semble, all 63", {"ndcg": 0.846}), Baseline("hybrid, all 63", {"ndcg": 0.863})),
    "symbol": (Baseline("semble, all 63", {"ndcg": 0.958}), Baseline("hybrid, all 63", {"ndcg": 0.941})),
}
