"""The prompt block: everything is shown or counted, and the budget holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel.errors import InvalidBudget
from satchel.packing.layers import LayeredPack
from satchel.packing.prompt import build_prompt
from satchel.tokenizers import chars4


@pytest.fixture
def pack(tmp_path: Path) -> LayeredPack:
    many = {f"d{number:02}/n.md": f"# Note {number}\n\ntext\n\n## Usage\n\nmore\n" for number in range(15)}
    return memory_engine(make_tree(tmp_path / "shop", {**SHOP, **many})).pack_layers()


def test_a_large_budget_shows_digest_index_and_how_to_fetch(pack: LayeredPack) -> None:
    prompt = build_prompt(pack, 100_000, chars4.count)
    assert prompt.summarised == 0 and prompt.shown == len(pack.index)
    assert prompt.text.startswith("# Context of shop\n") and "satchel get ID" in prompt.text
    for entry in pack.index:
        assert f"- {entry.id} · {' > '.join(entry.title_path)} · ~{entry.token_est}" in prompt.text
    for digest in pack.digest:
        assert f"- {digest.doc}: {digest.summary}" in prompt.text


@pytest.mark.parametrize("budget", [100, 150, 200, 300, 400, 500, 600, 800])
def test_the_budget_holds_and_what_is_not_shown_is_counted(pack: LayeredPack, budget: int) -> None:
    prompt = build_prompt(pack, budget, chars4.count)
    assert chars4.count(prompt.text) <= budget
    counted = sum(map(int, re.findall(r"^- … (\d+) more entr(?:y|ies)", prompt.text, re.MULTILINE)))
    assert prompt.shown + prompt.summarised == len(pack.index) and counted == prompt.summarised
    assert sum(entry.id in prompt.text for entry in pack.index) == prompt.shown


def test_a_larger_budget_never_shows_less(pack: LayeredPack) -> None:
    shown = [build_prompt(pack, budget, len).shown for budget in range(700, 6000, 300)]
    assert shown[-1] > shown[0]
    assert chars4.count(build_prompt(pack, 900, chars4.count).text) <= 900


def test_telling_entries_are_shown_before_others(pack: LayeredPack) -> None:
    prompt = build_prompt(pack, 500, chars4.count)
    usages = [entry for entry in pack.index if entry.title_path[-1] == "Usage"]
    others = [entry for entry in pack.index if entry.title_path[-1].startswith("Note")]
    shown = [entry.id in prompt.text for entry in usages]
    assert any(shown) and (all(shown) or not any(entry.id in prompt.text for entry in others))


def test_a_budget_too_small_is_an_error_that_names_the_smallest(pack: LayeredPack) -> None:
    with pytest.raises(InvalidBudget) as caught:
        build_prompt(pack, 3, chars4.count)
    smallest = caught.value.details["min_tokens"]
    assert build_prompt(pack, smallest, chars4.count)
    with pytest.raises(InvalidBudget):
        build_prompt(pack, smallest - 1, chars4.count)


def test_titles_stay_on_their_line(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, {"a.md": "Two\nlines\n===\n\ntext\n\nintro only\n"}))
    rows = build_prompt(engine.pack_layers(), 1000, chars4.count).text.split("\n")
    assert any("Two lines" in row for row in rows)


def test_an_empty_pack_gives_a_prompt(tmp_path: Path) -> None:
    prompt = build_prompt(memory_engine(tmp_path).pack_layers(), 500, chars4.count)
    assert (prompt.shown, prompt.summarised) == (0, 0) and "# Context of" in prompt.text


def test_a_digest_that_is_too_long_is_shown_in_part_and_counted(pack: LayeredPack) -> None:
    lines = [f"- {entry.doc}: {entry.summary}" for entry in pack.digest]
    prompt = build_prompt(pack, 200, chars4.count)
    assert 0 < sum(line in prompt.text for line in lines) == prompt.digests_shown < len(lines)
    assert f"- … {prompt.digests_summarised} more documents\n" in prompt.text
    assert prompt.digests_shown + prompt.digests_summarised == len(lines)
    assert prompt.shown and chars4.count(prompt.text) <= 200


def test_of_many_folders_the_largest_are_counted_by_name(tmp_path: Path) -> None:
    many = {f"d{number:02}/{name}.md": "# A\n" for number in range(20) for name in "abc"[: 1 + number // 10]}
    prompt = build_prompt(memory_engine(make_tree(tmp_path, many)).pack_layers(), 200, chars4.count)
    *named, (rest, others) = re.findall(r"^- … (\d+) more entr(?:y|ies) in (.*)$", prompt.text, re.MULTILINE)
    assert {number for number, _ in named} == {"2"} and others.endswith(" other folders")
    assert sum(int(number) for number, _ in named) + int(rest) == prompt.summarised
