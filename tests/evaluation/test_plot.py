"""The picture: well-formed, labelled, readable on light and dark, and the same every time."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from satchel.evaluation.metrics import FILES_IN_TOKENS, LINES_IN_TOKENS
from satchel.evaluation.plot import recall_curves, recall_plot
from satchel.evaluation.statistics import Mean, means

FILES = {
    name: Mean(0.2 * number, 40, 0.01, 0.2 * number - 0.02, 0.2 * number + 0.02)
    for number, name in enumerate(FILES_IN_TOKENS)
}
LINES = means({name: [0.1, 0.3] for name in LINES_IN_TOKENS})


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_axes_are_labelled_and_the_budgets_named() -> None:
    found = texts(recall_plot("shop", recall_curves("", FILES)))
    assert {"shop", "recall", "tokens of results, in order", "500", "8,000", "0.5", "gold files"} <= set(
        found
    )


def test_names_cannot_break_the_picture() -> None:
    svg = recall_plot("<script>&", recall_curves('a"<b>', FILES))
    assert texts(svg)[0] == "<script>&" and 'gold files, a"<b>' in texts(svg)


def test_gold_lines_have_a_curve_of_their_own_only_where_there_are_any() -> None:
    assert [line.label for line in recall_curves("", FILES)] == ["gold files"]
    assert [line.label for line in recall_curves("x", {**FILES, **LINES})] == [
        "gold files, x",
        "gold lines, x",
    ]


def test_both_colour_schemes_are_there_and_curves_differ_by_more_than_colour() -> None:
    svg = recall_plot(
        "shop", [*recall_curves("a", {**FILES, **LINES}), *recall_curves("b", {**FILES, **LINES})]
    )
    assert "prefers-color-scheme:dark" in svg and svg.count("<circle") == 20
    assert {f"stroke-dasharray:{dash}" in svg for dash in ("none", "7 4", "2 3", "9 3 2 3")} == {True}


def test_more_recall_is_higher_and_more_tokens_further_right() -> None:
    root = ElementTree.fromstring(recall_plot("shop", recall_curves("", FILES)))
    points = [
        (float(node.attrib["cx"]), float(node.attrib["cy"]))
        for node in root.iter()
        if node.tag.endswith("circle")
    ]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


def test_the_numbers_are_told_in_words_as_well() -> None:
    assert "0.800 at 8,000 tokens" in recall_plot("shop", recall_curves("", FILES))
