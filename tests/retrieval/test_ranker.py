"""The ranker: signals that are known, weights that are used, a sum that is the same everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import SHOP, closely, make_tree, memory_engine

from satchel import languages, plugins, settings
from satchel.retrieval import ranker
from satchel.retrieval.ranker import PASSAGES, REPORTS, REPOSITORIES
from satchel.retrieval.signals.kinds import PROSE
from satchel.retrieval.signals.paths import STANDS_FOR_FOLDER

PROFILES = (settings.QUALITY, settings.FAST)
KNOWN = {name: group for group in plugins.names("signal") for name in plugins.load("signal", group).signals}
NOT_IN_EVERY_INDEX = {"history", "meaning"}  # groups that a profile may do without
MAY_WEIGH_NOTHING = {  # signals that a fit may find no use for
    "definition_code",
    "definition_title",
    "folder_share_full",
    "refers_to",
    "stem_rarest_full",
    "stem_whole_title",
    "units_title",
}
QUERIES = ("basket total price", "add_money", "Wrong price\n\nThe `Basket` in src/basket.py adds twice.\n")


def test_no_signal_is_named_by_two_groups() -> None:
    names = [name for group in plugins.names("signal") for name in plugins.load("signal", group).signals]
    assert sorted(names) == sorted(KNOWN)


@pytest.mark.parametrize("profile", (*PROFILES, REPORTS, REPOSITORIES))
def test_weights_are_those_of_known_signals(profile: str) -> None:
    assert set(ranker.weights(profile)) <= set(KNOWN)
    assert all(np.isfinite(weight) for weight in ranker.weights(profile).values())


def test_there_is_one_file_of_weights_for_each_profile_for_reports_and_for_repositories() -> None:
    known = {*PROFILES, REPORTS, PASSAGES, REPOSITORIES, "sureness"}
    assert {path.stem for path in ranker._WEIGHTS.glob("*.json")} == known


def test_a_report_is_ranked_by_weights_of_its_own_in_every_profile(tmp_path: Path) -> None:
    engine = memory_engine(make_tree(tmp_path, SHOP))
    short, report = closely(engine, QUERIES[0]), closely(engine, QUERIES[2])
    for profile in PROFILES:
        assert ranker.weights_for(short, profile) == ranker.weights(profile)
        assert ranker.weights_for(report, profile) == ranker.weights(REPORTS)


def test_the_fast_profile_weighs_no_meaning() -> None:
    assert not [name for name in ranker.weights(settings.FAST) if KNOWN[name] == "meaning"]


def test_every_signal_is_weighed_or_listed() -> None:
    weighed = {name for profile in (*PROFILES, REPOSITORIES) for name in ranker.weights(profile)}
    always = {name for name, group in KNOWN.items() if group not in NOT_IN_EVERY_INDEX}
    assert always - weighed - MAY_WEIGH_NOTHING == set()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("group", plugins.names("signal"))
def test_a_group_gives_one_number_per_candidate_for_signals_it_names(
    tmp_path: Path, group: str, query: str
) -> None:
    context = closely(memory_engine(make_tree(tmp_path, SHOP)), query)
    found = plugins.load("signal", group).compute(context)
    assert set(found) <= set(plugins.load("signal", group).signals)
    for values in found.values():
        assert values.shape == (context.count,) and np.isfinite(values).all()


def test_a_score_is_the_weighted_sum_of_the_signals_that_are_there() -> None:
    found = {"one": np.array([1.0, 0.5]), "two": np.array([0.0, 1.0]), "unweighed": np.array([9.0, 9.0])}
    assert ranker.score(found, {"one": 2.0, "two": -0.5, "absent": 7.0}, 2).tolist() == [2.0, 0.5]


def test_the_order_of_weights_does_not_matter() -> None:
    found = {name: np.array([0.1, 0.7]) * place for place, name in enumerate("abcdef", 1)}
    weights = {name: 0.3 / place for place, name in enumerate("fdbeca", 1)}
    backwards = dict(reversed(weights.items()))
    assert ranker.score(found, weights, 2).tolist() == ranker.score(found, backwards, 2).tolist()


def test_scores_that_differ_by_less_than_a_millionth_are_equal() -> None:
    scores = ranker.score({"one": np.array([0.3, 0.1 + 0.2, 0.3 + 1e-9])}, {"one": 1.0}, 3)
    assert len(set(scores.tolist())) == 1


def test_hits_are_in_the_order_of_their_scores(tmp_path: Path) -> None:
    hits, _ = memory_engine(make_tree(tmp_path, SHOP)).search("basket price till", 4)
    scores = [hit.score for hit in hits]
    assert len(scores) == 4 and scores == sorted(scores, reverse=True)


def test_equal_scores_are_ordered_by_path(tmp_path: Path, without_vectors: None) -> None:
    tree = {f"{name}.md": "# Basket\n\nbasket\n" for name in ("zebra", "apple", "mango")}
    hits, _ = memory_engine(make_tree(tmp_path, tree)).search("basket", 3)
    assert len({hit.score for hit in hits}) == 1
    assert [hit.path for hit in hits] == ["apple.md", "mango.md", "zebra.md"]


def test_files_that_stand_for_their_folder_are_those_of_all_languages() -> None:
    assert languages.index_stems() | {"default"} == STANDS_FOR_FOLDER


def test_prose_is_what_the_languages_of_documents_are() -> None:
    assert {name for name in plugins.names("language") if languages.get(name).prose} == PROSE
