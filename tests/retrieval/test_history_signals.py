"""What the past says of a file: messages like the query, recent changes, files that change together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.retrieval import query
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.retrieval.query_terms import Weighting, weigh_terms
from satchel.retrieval.search import gather_evidence
from satchel.retrieval.signals.history import SIGNAL
from satchel.storage.records import HistoryCommit

FILES = {f"{name}.py": f"def {name}():\n    return basket\n" for name in ("till", "drawer", "ledger", "lamp")}
FILLER = [HistoryCommit(0, f"Unrelated number {number}", ("gone.py", "lamp.py")) for number in range(10)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    root: Path = tmp_path_factory.mktemp("past")
    make_tree(root, {**FILES, "tests/test_till.py": "def test_till():\n    assert till() == basket\n"})
    return memory_engine(root).corpus()


def ask(corpus: Corpus, query: str, past: Sequence[HistoryCommit]) -> dict[str, dict[str, float]]:
    """Each signal by path, without what is zero."""
    corpus.replace_history(past)
    context = gather_evidence(corpus, query, Filters(), 100)
    assert context is not None
    return {
        name: {
            record.path: float(value) for record, value in zip(context.records, values, strict=True) if value
        }
        for name, values in SIGNAL.compute(context).items()
    }


def test_without_a_past_there_are_no_signals(corpus: Corpus) -> None:
    assert ask(corpus, "basket", []) == {}
    assert ask(corpus, "basket", [HistoryCommit(0, "basket", ("gone.py",))]) == {}


def test_every_signal_is_given_when_there_is_a_past(corpus: Corpus) -> None:
    assert set(ask(corpus, "basket", FILLER)) == set(SIGNAL.signals)


def test_a_message_like_the_query_points_at_its_files(corpus: Corpus) -> None:
    past = [HistoryCommit(0, "Count coins twice", ("drawer.py",)), *FILLER]
    assert ask(corpus, "basket coins", past)["history_messages"] == {"drawer.py": 1.0}


def test_a_commit_is_shared_among_its_files_of_now(corpus: Corpus) -> None:
    past = [
        HistoryCommit(0, "Count coins", ("drawer.py", "gone.py", "ledger.py")),
        HistoryCommit(0, "Count coins", ("till.py", "gone.py")),
        *FILLER,
    ]
    found = ask(corpus, "basket coins", past)["history_messages"]
    assert found["till.py"] == 1.0
    assert found["drawer.py"] == found["ledger.py"] == pytest.approx(1 / math.sqrt(2))


def test_likeness_counts_by_its_square(corpus: Corpus) -> None:
    past = [
        HistoryCommit(0, "coins notes", ("till.py",)),
        HistoryCommit(0, "paper money", ("drawer.py",)),
        *FILLER,
    ]
    query_terms = weigh_terms(query.parse_query("basket coins notes paper"))
    weights = dict(zip(query_terms.terms, query_terms.weights[Weighting.BLEND], strict=True))
    ratio = weights["paper"] / (weights["coin"] + weights["note"])
    found = ask(corpus, "basket coins notes paper", past)["history_messages"]
    assert found == {"till.py": 1.0, "drawer.py": pytest.approx(ratio**2)}


def test_a_word_of_most_messages_points_nowhere(corpus: Corpus) -> None:
    past = [HistoryCommit(0, "Unrelated coins", ("drawer.py",)), *FILLER]
    assert ask(corpus, "basket unrelated", past)["history_messages"] == {}


def test_only_the_commits_most_alike_count(corpus: Corpus) -> None:
    alike = [HistoryCommit(0, "Count coins", ("till.py",))] * 30
    past = [*alike, HistoryCommit(0, "Count coins", ("drawer.py",)), *FILLER * 10]
    assert ask(corpus, "basket coins", past)["history_messages"] == {"till.py": 1.0}


def test_a_recent_change_counts_by_how_many_commits_ago_it_was(corpus: Corpus) -> None:
    past = [
        *FILLER,
        HistoryCommit(0, "x", ("till.py",)),
        *FILLER,
        HistoryCommit(0, "x", ("till.py", "ledger.py")),
    ]
    found = ask(corpus, "basket", past)["history_recent"]
    expected = {"lamp.py": 1.0, "till.py": math.exp(-10 / 400), "ledger.py": math.exp(-21 / 400)}
    assert found == {path: round(value, 6) for path, value in expected.items()}


def test_the_past_of_the_index_is_read_when_no_other_is_given(tmp_path: Path) -> None:
    corpus = memory_engine(make_tree(tmp_path / "plain", FILES)).corpus()
    assert corpus.changes.count == 0 and corpus.changes is corpus.changes
