"""The quality benchmark on made-up lines: every table has a row, and every switch and error is connected."""

import doctest
import gzip
import json
import pickle
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import (
    abstention,
    asked,
    boundary_quality,
    cue_families,
    entity_quality,
    quality_tables,
    recall_quality,
    results,
    tables,
    uncertainty,
)
from episodic_agent.core import recall as ranking
from episodic_agent.core.boundary.conversation.cues import BaselineCues
from episodic_agent.core.boundary.conversation.gap import ALL, LEXICAL
from episodic_agent.core.boundary.conversation.model import Silence, shipped
from episodic_agent.core.recall import DEFAULT_WEIGHTS
from episodic_agent.engine.recall.gathering import Gathered
from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.hashing import HashingEmbedder

WORDS = {
    "tea": [
        "green",
        "black",
        "kettle",
        "leaves",
        "cup",
        "pot",
        "Assam",
        "brew",
        "sugar",
        "lemon",
        "saucer",
        "spoon",
    ],
    "bike": [
        "chain",
        "saddle",
        "brake",
        "lane",
        "wheel",
        "tyre",
        "pump",
        "gear",
        "helmet",
        "lock",
        "basket",
        "bell",
    ],
    "trip": [
        "train",
        "hotel",
        "beach",
        "ticket",
        "museum",
        "harbour",
        "castle",
        "bus",
        "map",
        "bridge",
        "ferry",
        "inn",
    ],
}
FORMS = ("My {a} and the {b}?", "We have the {a}, the {b}.", "By the way, the {a} of my {b}", "Yes, {a} {b}!")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def talk(seed: int, units: int = 10) -> tuple[list[dict[str, Any]], list[int]]:
    """A dialogue of two topics, five messages each."""
    lot = np.random.default_rng(seed)
    topics = lot.permutation(sorted(WORDS))[: units // 5]
    statement = []
    for n in range(units):
        a, b = lot.choice(WORDS[topics[n // 5]], 2, replace=False)
        text = f"{topics[n // 5]}: {lot.choice(FORMS).format(a=a, b=b)}"
        statement.append({"speaker": "user" if n % 2 == 0 else "agent", "text": text})
    return statement, [int(n > 0 and n % 5 == 0) for n in range(units)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five small labelled sets, two sets of questions, and vectors of the units in the cache."""
    folder = tmp_path_factory.mktemp("data")
    units = folder / "cache" / "units"
    units.mkdir(parents=True)
    embedder = HashingEmbedder()
    for number, name in enumerate(("tiage", "superdialseg", "topiocqa", "realtalk", "qmsum")):
        rows = []
        for n in range(12):
            statements, starts = talk(100 * number + n)
            if name == "realtalk":
                statements = [
                    unit | {"time": f"2024-01-01T10:{m:02}:00"} for m, unit in enumerate(statements)
                ]
            rows.append({"id": str(n), "units": statements, "starts": starts})
        write(folder / f"seg_{name}.jsonl.gz", rows)
        texts = [unit["text"] for row in rows for unit in row["units"]]
        np.savez(units / f"seg_{name}.npz", vectors=embedder.embed(texts).astype(np.float16))
    for stem, base in (("ret_beam100k", 500), ("ret_realtalk", 600)):
        write(folder / f"{stem}.jsonl.gz", [case(base + n) for n in range(3)])
    statements = [m["text"] for n in range(3) for m in case(500 + n)["messages"]]
    np.savez(units / "ret_beam100k.npz", vectors=embedder.embed(statements).astype(np.float16))
    events = [case(700 + n) for n in range(20)]
    write(folder / "ret_memdaily.jsonl.gz", events)
    crowds = [crowd(800 + n) for n in range(60)]
    write(folder / "thr_irc.jsonl.gz", crowds)
    said = [unit["text"] for row in crowds for unit in row["units"]]
    for stem, texts in (("memdaily", [m["text"] for row in events for m in row["messages"]]), ("irc", said)):
        np.savez(units / f"{stem}.npz", vectors=embedder.embed(texts).astype(np.float16))
    return folder


def crowd(seed: int) -> dict[str, Any]:
    """A channel in which two conversations follow each other."""
    units = [unit | {"id": str(n), "system": False} for n, unit in enumerate(talk(seed)[0])]
    ids = [unit["id"] for unit in units]
    return {"id": str(seed), "units": units, "threads": [ids[:5], ids[5:]]}


def case(seed: int) -> dict[str, Any]:
    statements, starts = talk(seed, units=15)
    sessions = np.cumsum(starts).tolist()
    messages = [
        {"id": f"m{n}", "speaker": unit["speaker"], "text": f"{unit['text']} {seed}", "session": sessions[n]}
        for n, unit in enumerate(statements)
    ]
    questions = [
        {"id": f"q{n}", "question": f"{messages[n]['text'].split()[-2]}?", "type": "", "evidence": [f"m{n}"]}
        for n in (1, 3, 6, 8)
    ]
    nothing = [
        {"id": f"n{n}", "question": f"Which violin {n}?", "type": "none", "evidence": []} for n in range(6)
    ]
    return {"id": str(seed), "lang": "en", "messages": messages, "questions": [*questions, *nothing]}


@pytest.fixture(scope="module")
def measured(data: Path) -> Path:
    """One quick run of the program over everything, with networks that were trained elsewhere."""
    networks = shipped().networks
    keys = [(frozenset(), fold) for fold in range(-1, 5)]
    keys += [(frozenset({source}), -1) for source in boundary_quality.SETS]
    keys += [(frozenset(group), -1) for group in boundary_quality.trainer.GROUPS.values()]
    every = {(name, out, fold): net for out, fold in keys for name, net in networks.items()}
    clocks = {fold: tuple(shipped().time) for fold in range(-1, 5)}
    trained = boundary_quality.Trained(every, clocks, 60.0)
    cache, output = data / "cache", data / "results"
    (cache / f"networks-{boundary_quality._stamp(data)}.pickle").write_bytes(pickle.dumps(trained))
    page = data / "page.md"
    page.write_text("".join(f"<!-- table: {name} -->\n<!-- end -->\n" for name in tables.TABLES), "utf-8")
    arguments = ["--data", str(data), "--only", "seg_realtalk,quality", "--embedder", "hashing", "--quick"]
    folders = ["--cache", str(cache), "--output", str(output), "--page", str(page)]
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(boundary_quality, "QUICK", 3)
        fewer.setattr(abstention, "ROUNDS", 20)
        fewer.setitem(recall_quality.MAIN, "ret_realtalk", "recall@1")  # of so few all are among the ten
        assert program.main([*arguments, *folders, "--weights", "dense=.9"]) == 0
    return output


@pytest.mark.slow
def test_every_table_of_quality_has_rows_and_the_program_prints_them(measured: Path) -> None:
    page = (measured.parent / "page.md").read_text("utf-8")
    of_steps = {"quality-steps", "quality-prediction"}  # test_step_quality fills these
    assert of_steps < quality_tables.TABLES.keys()
    for name, table in quality_tables.TABLES.items():
        if name in of_steps:
            continue
        made = table(measured)
        assert made.count("\n") >= 2, name
        assert made in page
        assert f"{name}\n\n{made}" in quality_tables.printed(measured)
    assert "(quick)" in page


@pytest.mark.slow
def test_every_figure_of_quality_stands_beside_its_standard_error(measured: Path) -> None:
    rows = results.read(measured, quality_tables.QUALITY)
    for kind in ("glue in-sample", "unseen", "left out"):
        matches = [row for key, row in rows.items() if key.startswith(f"{kind} | ")]
        assert matches
        assert all({"value", "se", "interval"} <= row["score"].keys() for row in matches)
        assert any(row["score"]["se"] > 0 for row in matches)
    recalled = rows["recall | ret_realtalk"]
    assert recalled["questions"] == 12
    assert all(figure["se"] is not None for figure in recalled["figures"].values())
    cut = results.read(measured, "segmentation")
    assert {"score", "segeval_f1"} <= cut["seg_realtalk | default, delay 2"]["over_depth"].keys()
    assert any(row["errors"]["score"]["se"] > 0 for row in cut.values())


@pytest.mark.slow
def test_rankings_made_for_the_ablations_are_those_the_engine_returned(measured: Path) -> None:
    for key, row in results.read(measured, quality_tables.QUALITY).items():
        if key.startswith("recall | "):
            assert row["compared_with_search"] > 0
            assert row["ranked_otherwise"] == 0


@pytest.mark.slow
def test_what_is_switched_off_changes_the_figures_that_are_kept(measured: Path) -> None:
    rows = results.read(measured, quality_tables.QUALITY)
    changes = {key: row["score"] for key, row in rows.items() if key.startswith("without | ")}
    assert set(changes) == {f"without | {name}" for name in cue_families.ablations(2.5)}
    assert sum(score["left out"]["value"] != 0 for score in changes.values()) >= 5
    assert any((found["se"] or 0.0) > 0 for score in changes.values() for found in score.values())
    legs = {key: row["change"]["mean"]["value"] for key, row in rows.items() if key.startswith("off | ")}
    assert set(legs) == {f"off | {name}" for name in (*recall_quality.ablations(), "with dense=.9")}
    assert any(legs.values())


@pytest.mark.slow
def test_without_training_only_what_needs_none_is_measured_and_the_rest_is_kept(
    data: Path, tmp_path: Path
) -> None:
    (tmp_path / "units").symlink_to(data / "cache" / "units")
    rows = dict(boundary_quality.measure(data, tmp_path, quick=True))
    assert {key.partition(" | ")[0] for key in rows} == {"glue in-sample"}


@pytest.mark.slow
def test_glued_dialogues_are_the_same_every_time_and_named_by_what_is_said(data: Path) -> None:
    items, two = (boundary_quality.glue_names(boundary_quality.trainer.gather(data, data / "cache" / "units"))
                for _ in range(2))  # fmt: skip
    digests = [boundary_quality.material_digest(some) for some in items.values()]
    assert digests == [boundary_quality.material_digest(some) for some in two.values()]
    name = next(name for name, some in items.items() if some)
    first = items[name][0]
    moved = replace(first, starts=[*first.starts[1:], 0])
    assert boundary_quality.material_digest([first]) != boundary_quality.material_digest([moved])


# --- families of cues ---


def seen(seed: int, vectors: bool = True) -> tuple[np.ndarray, BaselineCues]:
    lot = np.random.default_rng(seed)
    size = len(ALL) if vectors else len(LEXICAL)
    return lot.normal(0.5, 0.5, size), BaselineCues(
        lot.normal(0.3, 0.5, len(ALL)).astype(np.float32), 9.0, 9.0
    )


def test_every_cue_is_in_one_family_and_none_is_unplaced() -> None:
    places = sorted(place for mine in cue_families.families().values() for place in mine)
    assert places == list(range(len(ALL)))
    assert "other" not in cue_families.families()


@pytest.mark.parametrize(("name", "change"), list(cue_families.ablations(2.5).items()))
def test_a_model_without_a_family_judges_otherwise(name: str, change: Any) -> None:
    full_model, without = shipped(), change(shipped())
    cues, baseline = seen(1)
    if name.startswith("clock"):
        silence = Silence(5.0, 2.0)
        assert without.with_time(0.3, silence) == pytest.approx(0.3)
        assert full_model.with_time(0.3, silence) != pytest.approx(0.3, abs=1e-3)
    else:
        ours, theirs = (model.content(cues, 2, baseline, 40) for model in (full_model, without))
        assert ours != pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("family", sorted(cue_families.families()))
def test_a_model_without_a_family_does_not_read_its_cues(family: str) -> None:
    without = cue_families.ablations(2.5)[family](shipped())
    cues, baseline = seen(2)
    places = cue_families.families()[family]
    other = cues.copy()
    other[places] += 1.0
    assert without.content(cues, 2, baseline, 40) == without.content(other, 2, baseline, 40)
    assert shipped().content(cues, 2, baseline, 40) != shipped().content(other, 2, baseline, 40)
    strange = baseline._replace(means=baseline.means.copy())
    strange.means[places] += 1.0
    assert without.content(cues, 2, baseline, 40) == without.content(cues, 2, strange, 40)


def test_an_absent_family_stands_at_the_mean_of_the_training_material() -> None:
    model, places = shipped(), cue_families.families()["shared words"]
    cues, baseline = seen(3)
    baseline = baseline._replace(seen=0.0, with_vectors=0.0)  # a thread without habits yet
    typical = cues.copy()
    typical[places] = model.networks["broad-2"].shift[places]
    without = cue_families.ablations(2.5)["shared words"](model)
    assert without.content(cues, 2, baseline, 9) == pytest.approx(
        model.content(typical, 2, baseline, 9), abs=1e-4
    )


def test_without_its_length_a_thread_is_judged_like_one_of_the_usual_length() -> None:
    without = cue_families.ablations(float(np.log(20)))[cue_families.THREAD_LENGTH](shipped())
    cues, baseline = seen(4)
    values = [without.content(cues, 2, baseline, position) for position in (2, 20, 200)]
    assert values == pytest.approx([shipped().content(cues, 2, baseline, 20)] * 3, abs=1e-5)


def test_a_network_of_another_build_is_refused() -> None:
    network = shipped().networks["words-0"]
    strange = network._replace(hidden=network.hidden[:, :-1])
    with pytest.raises(InvalidInput, match="update cue_families"):
        cue_families.ablations(2.5)["speakers"](replace(shipped(), networks={"words-0": strange}))


# --- recall ---


def test_every_weight_that_orders_observations_has_its_ablation() -> None:
    names = set(recall_quality.ablations())
    for field in ("speaker", "time", "phrase", "part", "order", "length", "summary"):
        assert field in names
        assert getattr(DEFAULT_WEIGHTS, field) > 0
    assert {"words", "vectors", "neighbour lexical", "neighbour dense", "both neighbours"} <= names


def gathered(seed: int) -> tuple[asked.Case, asked.Asked]:
    """A question on everything at once, and thirty candidates of which every leg prefers others."""
    lot, count = np.random.default_rng(seed), 30
    text = 'When did Ana last say "green tea"? And what of the old bike in May 2024?'
    query = ranking.analyse(text, ["Ana", "Bo"], datetime(2024, 7, 1, tzinfo=UTC))
    at = datetime(2024, 4, 20, tzinfo=UTC).timestamp() + 86_400.0 * np.sort(lot.integers(0, 60, count))
    candidates = ranking.Candidates(
        (), lot.random(count), lot.random(count),
        *(lot.random(count) for _ in range(4)), *(3600 * lot.random(count) for _ in range(2)),
        actors=lot.choice(["Ana", "Bo"], count).tolist(), at=at, moment=at,
        episode=lot.integers(0, 6, count), phrase=lot.integers(0, 2, count).astype(float),
        parts=lot.random((2, count)), octets=lot.integers(5, 200, count).astype(float),
    )  # fmt: skip
    episodes = ranking.EpisodeArrays(
        [str(n) for n in range(6)], lot.random(6), lot.random(6), np.ones(6), np.ones(6, np.int64)
    )
    refs = np.arange(count, dtype=np.int64)
    vectors = np.eye(count, dtype=np.float32)[lot.integers(0, count, count)]  # some say the same
    reported_asked = asked.Asked(text, "own", query, Gathered(refs, candidates, episodes, (), 1.0, False))
    names = np.array([f"{n:02}" for n in range(count)])
    return asked.Case("ret_realtalk", "0", "minilm", refs, names, names.tolist(), vectors), reported_asked


# The question of the case looks back, at one time of each thing, in a sentence: what is due, what is done every day and
# words to look for have cases of their own (`tests/engine/test_due.py`, `test_last_time.py`, `test_literal.py`).
BESIDE = {"dense foreign", "due", "occasions", "literal"}


@pytest.mark.parametrize("name", sorted(set(recall_quality.ablations()) - BESIDE))
def test_switching_off_a_leg_ranks_otherwise(name: str) -> None:
    order = recall_quality.ablations()[name]
    some = [gathered(seed) for seed in range(20)]
    moved = [order(q, c).tolist() != recall_quality.default_order(q, c).tolist() for c, q in some]
    assert sum(moved) >= 10


@pytest.mark.slow
def test_what_was_gathered_is_read_from_the_cache_until_the_data_change(data: Path, tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    cases = asked.asked_cases(data, "ret_realtalk", embedder, tmp_path, quick=True)
    path = next(tmp_path.glob("ret_realtalk-quick-*.pickle"))
    when = path.stat().st_mtime_ns
    two = asked.asked_cases(data, "ret_realtalk", embedder, tmp_path, quick=True)
    assert path.stat().st_mtime_ns == when
    assert [a.text for c in cases for a in c.asked] == [a.text for c in two for a in c.asked]
    assert {a.kind for c in cases for a in c.asked} == {"own", "sibling", "foreign"}
    assert not any(a.evidence for c in cases for a in c.asked if a.kind != "own")
    before = asked.stamp(data / "ret_realtalk.jsonl.gz", embedder.name)
    write(tmp_path / "ret_realtalk.jsonl.gz", [case(9)])
    assert asked.stamp(tmp_path / "ret_realtalk.jsonl.gz", embedder.name) != before


@pytest.mark.slow
def test_the_curve_rises_with_the_recall_that_is_kept_and_its_errors_fall_with_the_questions() -> None:
    lot = np.random.default_rng(5)

    def side(count: int) -> abstention.Sides:
        sure = [(c, 1.0) for c in lot.normal(1.0, 1.0, count)]
        return abstention.Sides.of(sure, {"foreign": lot.normal(0.0, 1.0, count).tolist(), "own": [0.1]})

    few, many = side(40), side(4000)
    assert list(many.others) == ["foreign"]  # one question is no curve
    at = [many.false_at("foreign", kept).value for kept in abstention.KEPT]
    assert at == sorted(at)
    assert many.area("foreign").value == pytest.approx(0.76, abs=0.02)  # of two normals one apart
    assert few.area("foreign").error > 4 * many.area("foreign").error > 0
    rows = dict(abstention.curves({"a": many, "b": few}))
    remaining = [rows[f"abstention | {name}"]["kept_by_common"]["0.9"] for name in ("a", "b")]
    assert float(np.mean(remaining)) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    "module", [abstention, cue_families, entity_quality, quality_tables, recall_quality, uncertainty]
)
def test_the_examples_in_the_documentation_run(module: Any) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0
