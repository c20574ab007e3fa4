"""Follows transcripts until it is stopped.

    read all there is → watch the folders → read all again (what came in between) → read what changes, when it changes

The first reading fails as any would. A later one that fails is tried again, as nobody stands by: the store may be
locked by another process, or the disk full for a while. Folders that appear, or are replaced, while we watch are
noticed within a few seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event

from watchfiles import watch as changes

from picomem.errors import InvalidInput, PicomemError
from picomem.ingest.discovery import default_places, listed_names, policy_files
from picomem.ingest.source import LOG, SourceState, look_at
from picomem.light_dataclass import dataclass
from picomem.paths import home_folder, is_folder, named_path

_QUIET = 400  # milliseconds without a change before changes are read: agents write in bursts
_LONGEST_BURST = 5_000  # milliseconds after which they are read although more come
_LOOK = 2_000  # milliseconds between two looks at the folders themselves
_ENDINGS = (".jsonl", ".jsonl.zst", ".jsonl.gz")

Read = Callable[[Sequence[str]], None]  # reads files and folders; none named: all that is watched


@dataclass(frozen=True, slots=True)
class WatchedPlaces:
    """The folders to watch, and the files in them that count even without the ending of a transcript. With `recursive`
    the folders below count as well, but not those below a folder that is `flat`. When one of `policy_files` changes,
    which lie elsewhere, all is read again."""

    folders: tuple[Path, ...]
    files: frozenset[str]
    recursive: bool
    flat: frozenset[Path] = frozenset()
    policy_files: frozenset[Path] = frozenset()

    def hold(self, path: Path) -> bool:
        """Return whether a path that changed counts, by where it lies."""
        return not any(folder in path.parents and (path.parent != folder or path.is_dir()) for folder in self.flat)

    def policies(self) -> dict[Path, SourceState]:
        """The state of each file that says which sessions a host may not send."""
        return {file: look_at(file)._replace(changed=0) for file in sorted(self.policy_files)}

    def existing(self) -> dict[Path, int]:
        """The folders that exist, each with what tells it from another one in its place."""
        there: dict[Path, int] = {}
        for folder in sorted(set(self.folders)):
            with suppress(OSError):  # missing, or closed to us
                there[folder] = folder.stat().st_ino
        return there


def places_of(paths: Sequence[str]) -> WatchedPlaces:
    """The places of these files and folders; without any, the folders in which hosts keep their transcripts."""
    given = [named_path(path) for path in paths]
    folders = [path if is_folder(path) else path.parent for path in given]
    usual = [] if folders else default_places(home_folder(), os.environ)
    folders = folders or [place.folder for place in usual]
    files = frozenset(path.name for path in given if not is_folder(path))
    flat = frozenset(place.folder for place in usual if not place.nested)
    return WatchedPlaces(
        tuple(folders),
        files,
        recursive=len(files) < len(given) or not given,
        flat=flat,
        policy_files=frozenset(policy_files(folders, home_folder(), os.environ)),
    )


def follow(
    paths: Sequence[str],
    read: Read,
    stop: Event,
    *,
    watching: Callable[[list[Path]], None],
    trouble: Callable[[str], None],
) -> None:
    """Read all, then whatever changes, until `stop` is set.

    `watching` is told of the folders once all there was is read, and `trouble` of the sentence of a reading that
    failed, and of an empty one when it is right again. Raises InvalidInput where there is nothing to watch, and what
    `read` raises the first time.
    """
    places = places_of(paths)
    if not places.existing():
        names = ", ".join(str(folder) for folder in places.folders)
        raise InvalidInput(f"There is nothing to watch: {names} do not exist. Name a folder that does.")
    policies = places.policies()
    read(())
    watching(list(places.existing()))
    problem = ""
    while not stop.is_set():
        there = places.existing()
        due: Sequence[str] | None = ()  # all of it: what came before the folders were watched made no sound
        for changed in _changes(there, places, stop):
            if changed and due is None:
                due = _folders_of(changed, places)
            if due is not None:
                before, problem = problem, _problem(read, due)
                if problem != before:
                    trouble(problem)
                due = () if problem else None
            before_policies, policies = policies, places.policies()
            if places.existing() != there or policies != before_policies:
                break


def _problem(read: Read, paths: Sequence[str]) -> str:
    try:
        read(paths)
    except PicomemError as error:
        return str(error)
    return ""


def _changes(there: dict[Path, int], places: WatchedPlaces, stop: Event) -> Iterator[set[Path]]:
    """The transcripts that changed, whenever anything did; and an empty set every few seconds.

    What else changes counts for nothing: our own database may lie in the folder, and reading writes to it.
    """
    try:
        for changed in changes(
            *there,
            watch_filter=None,
            debounce=_LONGEST_BURST,
            step=_QUIET,
            rust_timeout=_LOOK,
            yield_on_timeout=True,
            recursive=places.recursive,
            ignore_permission_denied=True,
            stop_event=stop,
        ):
            paths = {path for _, name in changed if places.hold(path := Path(name))}
            # A new folder counts as well: what was put into it before it was watched made no sound.
            endings = (*_ENDINGS, *listed_names())
            named = ((path, path.name.removesuffix(LOG)) for path in paths)
            yield {path for path, name in named if name.endswith(endings) or name in places.files or path.is_dir()}
    except FileNotFoundError:
        return  # a folder went away before it could be watched: the caller looks again
    except OSError as error:
        raise InvalidInput(f"The folders cannot be watched: {error}.") from error


def _folders_of(changed: set[Path], places: WatchedPlaces) -> Sequence[str] | None:
    """Return what to read of what changed: all where files are watched, else the folders, or the files of a flat one;
    None where these are gone."""
    if places.files:
        return ()
    return tuple(sorted({str(_read_with(path, places)) for path in changed if path.parent.is_dir()})) or None


def _read_with(changed: Path, places: WatchedPlaces) -> Path:
    if changed.parent in places.flat:
        return changed.with_name(changed.name.removesuffix(LOG))
    return changed if changed.is_dir() else changed.parent
