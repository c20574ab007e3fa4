from __future__ import annotations

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.__main__ import main
from benchmarks.curves import BARE, WITH, WITHOUT, draw, panels
from benchmarks.drawing import spread
from picomem.errors import InvalidInput, NotFound

SVG = "{http://www.w3.org/2000/svg}"


def report(*sizes: int, slower: float = 1.0) -> dict:
    """What the speed benchmark writes, as far as it is drawn: for each size one user who has all, and one among many."""
    recalls = [
        {
            "episodes": users * own,
            "users": users,
            "own": own,
            "embedder": embedder,
            "recall": {"p50_ms": slower * (2.0 if embedder == "static" else 1.0) * own**0.3},
            "bare": {"p50_ms": users * own / 1000},
        }
        for size in sizes
        for users, own in ((1, size), (100, size // 100), (1, size // 100))
        for embedder in ("none", "static")
    ]
    memory = [
        {"episodes": size, "embedder": embedder, "mb": size**0.5, "bare_mb": 11.0}
        for size in sizes
        for embedder in ("none", "static")
    ]
    return {"machine": "two cores", "recalls": recalls, "memory": memory}


@pytest.fixture
def written(tmp_path):
    def _written(content: object, name: str = "speed.json"):
        path = tmp_path / name
        path.write_text(json.dumps(content))
        return path

    return _written


def test_the_picture_has_a_curve_for_each_way_with_its_sizes_and_figures(written, tmp_path, capsys):
    files = [str(written(report(1_000, 10_000))), str(written(report(100_000), "more.json"))]
    assert main(["curves", *files, "--out", str(tmp_path / "growth.svg")]) == 0
    assert "shows 3 sizes" in capsys.readouterr().out
    drawn = ElementTree.parse(tmp_path / "growth.svg").getroot()
    assert len(drawn.findall(f"{SVG}polyline")) == 9
    texts = [text.text or "" for text in drawn.iter(f"{SVG}text")]
    assert {"1k", "10k", "100k", "ms", "MB", "two cores", "Recall (p50), one user of 100"} <= set(texts)
    assert "bare FTS5 100 ms" in texts
    assert "bare Python 11 MB" in texts


def test_the_same_reports_give_the_same_picture(written, tmp_path):
    file = written(report(1_000, 10_000))
    for name in ("one.svg", "two.svg"):
        draw([file], tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_everything_stands_within_the_picture_and_no_label_on_another(written, tmp_path):
    draw([written(report(1_000, 10_000))], tmp_path / "growth.svg")
    drawn = ElementTree.parse(tmp_path / "growth.svg").getroot()
    width, height = (float(drawn.attrib[name]) for name in ("width", "height"))
    for text in drawn.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) < width
        assert 0 <= float(text.attrib["y"]) <= height
    for line in drawn.iter(f"{SVG}polyline"):
        for x, y in re.findall(r"([\d.]+),([\d.]+)", line.attrib["points"]):
            assert 0 < float(x) < width
            assert 0 < float(y) < height
    labels = [text for text in drawn.iter(f"{SVG}text") if (text.text or "").endswith((" ms", " MB"))]
    places = {(label.attrib["x"], label.attrib["y"]) for label in labels}
    assert len(places) == len(labels) == 9


def test_what_one_of_many_has_is_no_size_of_its_own():
    alone, shared, memory = panels([report(1_000, 10_000)])
    assert [curve.name for curve in alone.curves] == [WITH, WITHOUT, BARE]
    for curve in (*alone.curves, *shared.curves, *memory.curves):
        assert [size for size, _ in curve.points] == [1_000, 10_000]


def test_of_two_reports_of_a_size_the_later_counts():
    both = panels([report(1_000), report(1_000, slower=3)])[0].curves[0]
    assert both.points == panels([report(1_000, slower=3)])[0].curves[0].points


@pytest.mark.parametrize("content", ["{", {}, [], {"recalls": [{}], "memory": []}, report()])
def test_what_is_no_report_is_told(content, tmp_path, written):
    file = tmp_path / "broken.json"
    file.write_text(content) if isinstance(content, str) else written(content, file.name)
    with pytest.raises(InvalidInput):
        draw([file], tmp_path / "growth.svg")
    assert not (tmp_path / "growth.svg").exists()


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFound):
        draw([tmp_path / "none.json"], tmp_path / "growth.svg")


@given(st.lists(st.floats(0, 300), max_size=6))
def test_labels_keep_their_distance_and_their_order(wanted):
    placed = spread(wanted, 15)
    ranked = sorted(range(len(wanted)), key=lambda number: wanted[number])
    for above, below in pairwise(ranked):
        assert placed[below] - placed[above] >= 15 - 1e-6
    if len(wanted) == 1 or all(below - above >= 15 for above, below in pairwise(sorted(wanted))):
        assert placed == pytest.approx(wanted)
