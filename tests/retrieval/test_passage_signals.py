"""What speaks for a passage: its words, who uses it, where the query points; each signal has a weight."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_tree, memory_engine

from satchel.engine import Engine
from satchel.pack_request import PackRequest
from satchel.retrieval import ranker
from satchel.retrieval.passages import passages_of_best_files
from satchel.retrieval.ranker import PASSAGES

_FILLER = "".join(f"    step_{number} = prepare({number})\n" for number in range(30))
TREE: dict[str, str | bytes] = {
    "src/report.py": (
        f"def print_invoice(order):\n{_FILLER}    return round_up(order)\n\n\n"
        f"def round_up(value):\n{_FILLER}    return value\n\n\n"
        f"def unrelated(value):\n{_FILLER}    return value\n\n\n"
        f"class Invoice:\n    name = 'invoice'\n{_FILLER}"
    ),
    "tests/test_report.py": "def test_invoice():\n    assert print_invoice(1)\n",
    "docs/guide.md": "# Guide\n\nHow an invoice is printed.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return memory_engine(make_tree(tmp_path_factory.mktemp("passages"), TREE))


def signals(engine: Engine, query: str) -> dict[str, dict[str, float]]:
    """Signal → passage, by the name of what it starts with → value."""
    context = engine.pipeline(PackRequest(query=query)).context
    assert context is not None
    weights = ranker.weights("quality")
    passages, found, _ = passages_of_best_files(
        context, ranker.signals(context), weights, files=9, in_detail=9
    )
    names = [".".join(passage.span.chunks[0].title_path) for passage in passages]
    return {
        signal.removeprefix("passage_"): dict(zip(names, values.tolist(), strict=True))
        for signal, values in found.items()
    }


def test_each_signal_has_a_weight_and_each_weight_a_signal(engine: Engine) -> None:
    found = {f"passage_{name}" for name in signals(engine, "print an invoice")}
    assert found == set(ranker.weights(PASSAGES))


def test_a_passage_counts_by_its_words_and_the_best_of_a_file_is_the_measure(engine: Engine) -> None:
    found = signals(engine, "print an invoice")
    assert found["words"]["print_invoice"] > found["words"]["unrelated"] == 0.0
    assert found["words_in_file"]["print_invoice"] == 1.0
    assert found["names"]["print_invoice"] > found["names"]["round_up"]


def test_words_of_a_report_are_looked_for_in_code_and_those_of_a_short_query_in_comments_too(
    tmp_path: Path,
) -> None:
    lines = "".join(f"    step_{number} = prepare({number})\n" for number in range(30))
    told = f"def first(order):\n    # The invoice is rounded wrongly.\n{lines}"
    done = f"def second(order):\n    invoice = rounded(order)\n{lines}"
    engine = memory_engine(make_tree(tmp_path, {"bills.py": f"{told}\n\n{done}"}))
    short = signals(engine, "invoice rounded")["words"]
    report = signals(engine, "Wrong sum\n\nThe invoice is rounded twice.")["words"]
    assert short["first"] > 0.0 and short["second"] > 0.0
    assert report["first"] == 0.0 and report["second"] == 1.0


def test_what_a_fitting_passage_uses_is_vouched_for(engine: Engine) -> None:
    used = signals(engine, "print an invoice")["used"]
    assert used["round_up"] > 0.0 == used["unrelated"]


def test_what_the_title_names_is_named(engine: Engine) -> None:
    named = signals(engine, "why does round_up fail")["named"]
    assert named["round_up"] == 1.0 and named["unrelated"] == 0.0


def test_a_link_with_lines_points_at_them(engine: Engine) -> None:
    linked = signals(engine, "Wrong total\n\nSee src/report.py#L40-L41 for where it goes wrong.")["linked"]
    assert linked["round_up"] == 1.0 and linked["print_invoice"] == 0.0


def test_a_stack_frame_points_at_its_line_and_a_little_less_at_its_function(engine: Engine) -> None:
    report = (
        "Crash\n\nTraceback (most recent call last):\n"
        '  File "src/report.py", line 3, in print_invoice\n'
        '  File "src/report.py", line 1, in round_up\nValueError: no\n'
    )
    traced = signals(engine, report)["traced"]
    assert traced["print_invoice"] == 1.0 > traced["round_up"] > 0.0 == traced["unrelated"]


def test_types_tests_and_documents_are_told_apart(engine: Engine) -> None:
    found = signals(engine, "print an invoice")
    assert found["type"]["Invoice"] == 1.0 and found["type"]["round_up"] == 0.0
    assert found["file_test"]["test_invoice"] > 0.0 and found["file_document"]["Guide"] > 0.0
    assert found["file_test"]["round_up"] == 0.0


def test_only_short_queries_count_the_score_of_the_file_twice(engine: Engine) -> None:
    short, report = (
        signals(engine, "print an invoice"),
        signals(engine, "Crash\n\nthe invoice is printed twice"),
    )
    assert short["file_score_short"] == short["file_score"] and any(report["file_score"].values())
    assert not any(report["file_score_short"].values())


def test_what_the_text_of_a_report_names_is_named_below_the_title(engine: Engine) -> None:
    found = signals(
        engine, "Prices are wrong\n\nI called `round_up` and then `report.unrelated` on an order."
    )
    named = {name for name, value in found["named_below"].items() if value}
    assert named == {"round_up", "unrelated"} and not any(found["named"].values())


def test_meaning_counts_for_short_queries(engine: Engine) -> None:
    assert any(signals(engine, "print an invoice")["meaning"].values())
    assert not any(
        signals(engine, "print an invoice\n\nThe total of the order is missing.")["meaning"].values()
    )


def test_a_test_inside_a_source_file_is_told_apart(tmp_path: Path) -> None:
    filler = "".join(f"    let step_{number} = prepare({number});\n" for number in range(30))
    text = f"fn print_invoice() {{\n{filler}}}\n\nmod tests {{\n    fn prints() {{\n{filler}    }}\n}}\n"
    found = signals(memory_engine(make_tree(tmp_path, {"src/report.rs": text})), "print an invoice")
    assert found["inner_test"]["print_invoice"] == 0.0 and sum(found["inner_test"].values()) >= 1.0
