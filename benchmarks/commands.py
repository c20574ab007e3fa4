"""Runs the benchmark that the arguments name, and prints its report."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from picomem.cli.run import json_document
from picomem.errors import InvalidInput
from picomem.light_dataclass import asdict
from picomem.paths import database_file, named_path, private_umask
from picomem.text.inert_text import for_terminal, one_line

_MOST_INSTANCES = 100_000


def run_benchmark(chosen: argparse.Namespace) -> int:
    """Measure, and print the tables (or one JSON document)."""
    if chosen.what == "curves":
        return _draw(chosen)
    report, rendered = _MEASURING[chosen.what](chosen)
    show_progress("")  # the report stands in place of the progress
    print(json_document(asdict(report), indent=2) if chosen.json else for_terminal(rendered))
    if getattr(report, "stopped", False):
        raise KeyboardInterrupt
    return 0


def _draw(chosen: argparse.Namespace) -> int:
    from benchmarks.curves import draw

    sizes = draw([named_path(file) for file in chosen.files], named_path(chosen.out))
    shown = f"{one_line(chosen.out)} shows {sizes} sizes."
    print(json_document({"path": chosen.out, "sizes": sizes}) if chosen.json else shown)
    return 0


def _speed(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import sealed_speed, speed

    if chosen.sealed:
        costs = sealed_speed.run(numbers_of(chosen.sizes, "--sizes")[0], show_progress)
        return costs, sealed_speed.render(costs)
    folder = named_path(chosen.transcripts) if chosen.transcripts else None
    if chosen.files < 1:
        raise InvalidInput(f"--files is {chosen.files}; it must be at least 1.")
    effort = speed.Effort(small_files=chosen.files)
    sizes = numbers_of(chosen.sizes, "--sizes")
    report = speed.run(sizes=sizes, transcripts=folder, progress=show_progress, effort=effort)
    return report, speed.render(report)


def _quality(chosen: argparse.Namespace) -> tuple[Any, str]:
    from question_sets import quality

    report = quality.run(
        [named_path(file) for file in chosen.files],
        ks=numbers_of(chosen.k, "--k"),
        jobs=chosen.jobs,
        every=chosen.every,
        embedder=chosen.embedder,
        server=chosen.server,
        progress=lambda state: show_progress(f"{state.name}: {state.cases} cases, {state.questions} questions"),
    )
    return report, quality.render_markdown(report) if chosen.markdown else quality.render(report)


def _own(chosen: argparse.Namespace) -> tuple[Any, str]:
    from question_sets import own_report, own_store
    from question_sets.variants import variants

    private_umask()
    report = own_store.run(
        named_path(chosen.questions),
        variants(chosen.embedder or [], chosen.compare or []),
        database=database_file(chosen.db) if chosen.db else None,
        user=chosen.user,
        progress=show_progress,
    )
    return report, own_report.render(report, as_markdown=chosen.markdown)


def _ablation(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import ablation

    files = [named_path(file) for file in chosen.files]
    report = ablation.run(files, jobs=chosen.jobs, embedder=chosen.embedder, progress=show_progress)
    return report, ablation.render(report, as_markdown=chosen.markdown)


def _peers(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks.peers import report as peer_report
    from benchmarks.peers import run as peer_run

    if chosen.no_speed and not chosen.files:
        raise InvalidInput("That leaves nothing to measure; name a question set, or leave --no-speed out.")
    report = peer_run.run(
        [named_path(file) for file in chosen.files],
        sizes=() if chosen.no_speed else numbers_of(chosen.sizes, "--sizes"),
        place=peer_run.Place(
            environments=named_path(chosen.peers).resolve() if chosen.peers else None,
            model=named_path(chosen.model).resolve() if chosen.model else None,
        ),
        only=chosen.only or (),
        bounds=peer_run.Bounds(minutes=chosen.minutes),
        progress=show_progress,
    )
    return report, peer_report.render(report, as_markdown=chosen.markdown)


def _gate(_: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import gate

    report = gate.run(show_progress)
    return report, gate.render(report)


def _redaction(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import redaction

    if not 1 <= chosen.instances <= _MOST_INSTANCES:
        raise InvalidInput(f"--instances is {chosen.instances}; it must be from 1 to {_MOST_INSTANCES:,}.")
    report = redaction.run(chosen.instances, progress=show_progress)
    return report, redaction.render(report)


def _postings(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import postings

    sizes = numbers_of(chosen.sizes, "--sizes")
    if chosen.words is not None and chosen.words < 1:
        raise InvalidInput(f"--words is {chosen.words}; it must be at least 1.")
    effort = postings.Effort(fill_seconds=60 * chosen.minutes)
    report = postings.run(sizes, show_progress, effort, owners=chosen.owners, words=chosen.words)
    return report, postings.render(report)


def _serve(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import server_speed

    effort = server_speed.Effort(
        users=chosen.users,
        own=chosen.own,
        clients=chosen.clients,
        seconds=chosen.seconds,
        requests=chosen.requests,
        sockets=chosen.sockets,
    )
    chroma = named_path(chosen.chroma) if chosen.chroma else None
    report = server_speed.run(effort, chroma, show_progress)
    return report, server_speed.render(report)


def _inject(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import injection

    report = injection.run(progress=show_progress)
    if chosen.picture:
        injection.draw(report, named_path(chosen.picture))
    return report, injection.render(report, as_markdown=chosen.markdown)


def _hooks(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import hook_load

    if chosen.runs < 1 or chosen.busy < 0:
        raise InvalidInput("--runs must be at least 1, and --busy at least 0.")
    report = hook_load.run(chosen.busy, chosen.runs, show_progress)
    return report, hook_load.render(report)


def _page(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import page_speed

    report = page_speed.run(chosen.memories, show_progress)
    return report, page_speed.render(report, as_markdown=chosen.markdown)


def _scale(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import scale

    if chosen.episodes < 1:
        raise InvalidInput(f"--episodes is {chosen.episodes}; it must be at least 1.")
    effort = scale.Effort(
        users=numbers_of(chosen.users, "--users"),
        episodes=chosen.episodes,
        clients=numbers_of(chosen.clients, "--clients"),
        seconds=chosen.seconds,
    )
    report = scale.run(scale.FULL if chosen.full else effort, chosen.server, show_progress)
    return report, scale.render(report)


def _memories(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import memory_growth

    report = memory_growth.measure(numbers_of(chosen.sizes, "--sizes"), chosen.embedder, show_progress)
    return report, memory_growth.render(report)


def _large(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import large_inputs

    if not 0 < chosen.share <= 1:
        raise InvalidInput(f"--share is {chosen.share}; it must be above 0 and at most 1.")
    report = large_inputs.measure(chosen.share, show_progress, tuple(chosen.only or ()))
    return report, large_inputs.render(report)


def _revisions(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import revision_speed

    if chosen.revisions < 1:
        raise InvalidInput(f"--revisions is {chosen.revisions}; it must be at least 1.")
    report = revision_speed.measure(chosen.revisions, chosen.embedder, show_progress)
    return report, revision_speed.render(report)


def _record(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import record_speed

    report = record_speed.measure(chosen.changes, show_progress)
    return report, record_speed.render(report)


def _common_words(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import common_words

    sizes = numbers_of(chosen.memories, "--memories") if chosen.memories else common_words.SIZES
    report = common_words.measure(sizes, show_progress)
    return report, common_words.render(report)


def _distil(chosen: argparse.Namespace) -> tuple[Any, str]:
    from benchmarks import distilling

    report = distilling.run([named_path(folder) for folder in chosen.stories], show_progress)
    return report, distilling.render(report)


_MEASURING = {
    "distil": _distil,
    "speed": _speed,
    "quality": _quality,
    "own": _own,
    "ablation": _ablation,
    "peers": _peers,
    "gate": _gate,
    "redaction": _redaction,
    "postings": _postings,
    "serve": _serve,
    "inject": _inject,
    "hooks": _hooks,
    "page": _page,
    "scale": _scale,
    "revisions": _revisions,
    "record": _record,
    "memories": _memories,
    "common-words": _common_words,
    "large": _large,
}


def numbers_of(text: str, what: str) -> tuple[int, ...]:
    """The whole numbers of an argument such as 5,10, in order. Raises InvalidInput, which names the argument `what`."""
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        numbers = ()
    if not numbers or numbers[0] < 1:
        raise InvalidInput(f"{what} is “{text}”; write whole numbers with commas, as 5,10.")
    return numbers


def show_progress(text: str) -> None:
    """Replace the line of progress on stderr, where a person watches."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(text)}", end="", file=sys.stderr, flush=True)
