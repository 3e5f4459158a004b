"""The whole way from working copies to the text that is kept: dump, fit, run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "benchmarks" / "quality"
QUESTIONS = {
    "with_tax": "shop/prices.py",
    "busy bank": "shop/payment.py",
    "what is in a basket": "shop/basket.py",
}


def script(name: str, *arguments: str | Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(BENCHMARK / name), *map(str, arguments)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repositories with the same shop, the second in a folder of its own."""
    folder = tmp_path_factory.mktemp("quality")
    shutil.copytree(ROOT / "examples" / "shop", folder / "copies" / "One__shop@000000000000")
    shutil.copytree(ROOT / "examples" / "shop", folder / "copies" / "two__shop@111111111111" / "code")
    rows = [
        {"set": "semble", "repo": f"shop{number}", "source": source, "commit": str(number) * 40}
        | {"search_root": root, "query_id": str(at), "category": "semantic", "language": "python"}
        | {"query": query, "gold": [{"path": f"{root}/{path}".strip("/"), "tier": "primary"}]}
        for number, (source, root) in enumerate([("one/Shop", ""), ("two/shop", "code")])
        for at, (query, path) in enumerate(QUESTIONS.items())
    ]
    (folder / "queries.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> Path:
    asking = [
        "--queries",
        folder / "queries.jsonl",
        "--copies",
        folder / "copies",
        "--index",
        folder / "index",
    ]
    script("dump.py", *asking, "--out", folder / "features.npz", "--jobs", "2")
    for name, without in (("quality", ()), ("fast", ("--without", "meaning"))):
        weights = ["--out", folder / f"{name}.json", "--folds", folder / f"{name}_folds.json"]
        script("fit.py", folder / "features.npz", *weights, *without)
    folds = ["--folds", folder / "quality_folds.json", "--fast-folds", folder / "fast_folds.json"]
    written = ["--out", folder / "quality.txt", "--predictions", folder / "predictions.jsonl"]
    script("run.py", *asking, *folds, *written, "--as-is")
    return folder / "quality.txt"


def test_the_text_has_a_row_for_each_repository_beside_the_baselines(result: Path) -> None:
    lines = result.read_text(encoding="utf-8").splitlines()
    starts = [line.split("  ")[0] for line in lines]
    assert {"satchel", "satchel --profile fast", "BM25 (measured)", "shop0", "shop1"} <= set(starts)
    row = next(line.split() for line in lines if line.startswith("satchel  "))
    assert row[1] == "6" and float(row[2]) > 0.8


def test_predictions_name_paths_of_the_whole_repository(result: Path) -> None:
    rows = [
        msgspec.json.decode(line) for line in (result.parent / "predictions.jsonl").read_bytes().splitlines()
    ]
    assert len(rows) == 6
    assert all(item["path"].startswith("code/") for item in rows[-1]["results"])


def test_nothing_is_written_into_a_copy(result: Path) -> None:
    kept = {
        path.relative_to(ROOT / "examples" / "shop") for path in (ROOT / "examples" / "shop").rglob("*.*")
    }
    copy = result.parent / "copies" / "One__shop@000000000000"
    assert {path.relative_to(copy) for path in copy.rglob("*.*")} == kept


def test_a_missing_copy_is_named(folder: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as error:
        arguments = ["--queries", folder / "queries.jsonl", "--copies", folder, "--index", folder / "index"]
        script("dump.py", *arguments, "--out", folder / "none.npz")
    assert "one__shop@000000000000" in error.value.stderr


def test_reports_are_asked_of_clones_at_their_commits_without_a_working_copy(tmp_path: Path) -> None:
    from builders import git, git_repo  # the other tests here need no git

    source = git_repo(tmp_path / "source", {"shop/basket.py": "def total(items):\n    return sum(items)\n"})
    first = git(source, "rev-parse", "HEAD").strip()
    (source / "shop" / "basket.py").rename(source / "shop" / "cart.py")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Rename the basket")
    second = git(source, "rev-parse", "HEAD").strip()
    clones = tmp_path / "clones"
    clones.mkdir()
    git(clones, "clone", "-q", "--shared", "--no-checkout", str(source), "One__shop")
    rows = [
        {"set": "swe_multi", "repo": "shop", "source": "one/Shop", "commit": commit, "query_id": str(at)}
        | {"query": "Wrong total\n\nThe sum of all items is wrong.", "gold": [{"path": path}]}
        for at, (commit, path) in enumerate([(first, "shop/basket.py"), (second, "shop/cart.py")])
    ]
    (tmp_path / "queries.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    asking = ["--queries", tmp_path / "queries.jsonl", "--clones", clones, "--index", tmp_path / "index"]
    told = script("dump.py", *asking, "--out", tmp_path / "features.npz")
    assert "2 questions, 2 candidates; an answer is among them for 2; 0 answers are not indexed" in told
    assert not (clones / "One__shop" / "shop").exists()
