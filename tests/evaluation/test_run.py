"""A dataset asked of a segment: where its paths are, what is reported, what is saved and compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from builders import SHOP, git, git_repo, make_engine, make_tree

from satchel.errors import FileNotFound, InvalidRequest
from satchel.evaluation import saved
from satchel.evaluation.cases import Case, Gold, LeftOutReason, read_dataset
from satchel.evaluation.run import Run, run_dataset
from satchel.evaluation.statistics import groups, latency, read_gate, summarise

SHOP_QUESTIONS = Path(__file__).parent / "shop.jsonl"


def ask(root: Path, cases: list[Case]) -> Run:
    with make_engine(root) as engine:
        return run_dataset(engine, cases, lambda text: len(text) / 4)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("work") / "shop", {**SHOP, "data.min.js": "x=1\n"})


@pytest.fixture(scope="module")
def run(shop: Path) -> Run:
    return ask(shop, read_dataset(SHOP_QUESTIONS))


def case(query: str, *paths: str, search_root: str = "", repo: str = "") -> Case:
    return Case(f"{query} {paths}", query, tuple(map(Gold, paths)), search_root=search_root, repo=repo)


def test_every_row_is_asked_and_scored(run: Run) -> None:
    assert [answer.case.id for answer in run.answers] == ["1", "2", "3", "4"] and run.seen == 4
    assert run.answers[1].scores["recall@5"] == 1 and run.answers[0].scores["line_recall@500t"] == 1


def test_a_row_whose_gold_is_elsewhere_is_reported(shop: Path) -> None:
    found = ask(
        shop, [case("basket", "src/basket.py"), case("basket", "other/place.py"), case("basket", "../up.py")]
    )
    assert len(found.answers) == 1
    assert {item.reason for item in found.left_out} == {LeftOutReason.GOLD_ELSEWHERE} and len(
        found.left_out
    ) == 2


def test_gold_that_is_there_but_not_indexed_counts_as_not_found(shop: Path) -> None:
    found = ask(shop, [case("basket", "src/basket.py", "data.min.js")])
    assert found.unreachable == ["data.min.js"] and found.answers[0].scores["recall@10"] == 0.5


def test_a_query_that_cannot_be_asked_is_reported(shop: Path) -> None:
    found = ask(shop, [case("basket", "src/basket.py"), case("  ", "src/basket.py")])
    assert [item.reason for item in found.left_out] == [LeftOutReason.INVALID_QUERY]


def test_no_row_that_can_be_asked_is_an_error_with_the_counts(shop: Path) -> None:
    with pytest.raises(InvalidRequest, match="gold_not_in_segment 1") as caught:
        ask(shop, [case("basket", "other/place.py")])
    assert "--repo" in caught.value.hint


def test_a_search_root_is_searched_alone(shop: Path) -> None:
    found = ask(shop, [case("basket setup", "src/basket.py", search_root="src")])
    assert {result.path.split("/")[0] for result in found.answers[0].results} == {"src"}


def test_a_segment_that_is_the_search_root_answers_in_the_dataset_s_paths(shop: Path) -> None:
    found = ask(shop / "src", [case("basket", "src/basket.py", search_root="src")])
    assert found.answers[0].results[0].path == "src/basket.py" and found.answers[0].scores["recall@1"] == 1


def test_rows_of_several_repositories_are_noted(shop: Path) -> None:
    rows = [case("basket", "src/basket.py", repo="one"), case("till", "src/till.go", repo="two")]
    assert "2 repositories" in ask(shop, rows).notes[0]


def test_rows_about_another_commit_are_noted(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    head = git(root, "rev-parse", "HEAD").strip()
    rows = [case("basket", "src/basket.py")._replace(commit=commit, id=commit) for commit in (head, "0" * 40)]
    assert ask(root, rows).notes == [
        "1 questions are about another commit than HEAD; their lines may have moved"
    ]


def test_the_same_dataset_gives_the_same_scores_from_every_index(
    shop: Path, run: Run, tmp_path: Path
) -> None:
    again = ask(make_tree(tmp_path / "copy", SHOP), read_dataset(SHOP_QUESTIONS))
    assert [answer[:3] for answer in again.answers] == [answer[:3] for answer in run.answers]


def test_groups_split_the_answers_and_keep_their_scores(run: Run) -> None:
    found = groups(run.answers, "category")
    assert list(found) == ["code", "docs"] and found["code"]["mrr"].n == 3
    total = sum(group["mrr"].mean * group["mrr"].n for group in found.values())
    assert total / 4 == pytest.approx(summarise(run.answers)["mrr"].mean, abs=1e-4)


def test_latency_is_the_middle_and_the_slow_end(run: Run) -> None:
    timed = [run.answers[0]._replace(milliseconds=float(number)) for number in range(100)]
    assert latency(timed) == (50.0, 95.0)


@pytest.mark.parametrize("text", ["ndcg@10", "ndcg@10>0.5", "speed>=0.5", "mrr>=much", "mrr>=2", ">=0.5"])
def test_a_gate_that_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(InvalidRequest):
        read_gate(text)


def test_a_gate_names_a_metric_and_a_limit() -> None:
    assert read_gate(" file_recall@2000t >= .95 ") == ("file_recall@2000t", 0.95)


def test_what_is_saved_is_read_back_and_has_no_time_in_it(run: Run, tmp_path: Path) -> None:
    kept = saved.keep(run, "dataset", "characters / 4")
    data = msgspec.json.encode(kept)
    saved.write_text(tmp_path / "run.json", data.decode())
    assert saved.load(tmp_path / "run.json") == kept
    later = replace(run, answers=[answer._replace(milliseconds=9e9) for answer in run.answers])
    assert msgspec.json.encode(saved.keep(later, "dataset", "characters / 4")) == data


def test_a_comparison_pairs_the_same_questions_with_the_same_gold(run: Run) -> None:
    kept = saved.keep(run, "dataset", "t")
    first = msgspec.structs.replace(kept.queries[0], gold=(saved.SavedGold("other"),))
    other = msgspec.structs.replace(kept, queries=[first, *kept.queries[1:3]])
    found = saved.compare(kept, other)
    assert (found.shared, found.only_ours, found.only_theirs) == (2, 2, 1)
    assert found.differences["mrr"].difference.mean == 0


def test_evaluations_that_cannot_be_compared_are_an_error(run: Run, tmp_path: Path) -> None:
    kept = saved.keep(run, "dataset", "t")
    for other in (saved.keep(run, "dataset", "another"), msgspec.structs.replace(kept, queries=[])):
        with pytest.raises(InvalidRequest):
            saved.compare(kept, other)
    with pytest.raises(FileNotFound):
        saved.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(InvalidRequest, match="no saved evaluation"):
        saved.load(tmp_path / "bad.json")


def test_a_file_that_cannot_be_written_is_a_typed_error_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be written"):
        saved.write_text(tmp_path / "none" / "x.json", "x")
    assert list(tmp_path.iterdir()) == []
