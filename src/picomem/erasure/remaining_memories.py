"""Repairs memories that lose some of their versions in a purge, and the rows that mention those versions.

Such a memory is believed as it was before the erased versions: the versions that they had replaced are opened again.
A key made of erased words is replaced. If only erased sessions belonged to its project, the memory then belongs to no
project, because a host names a project after a folder. Erased memories are removed from related entries, and changes
no longer mention them: the change that made such a memory keeps who, when and which verb.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from picomem.coded_text import stored_words, written_in
from picomem.erasure.plan import Plan
from picomem.history.undo import believe, differing
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory.remember import Writer
from picomem.memory.version_history import VersionHistory
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories, memory_lineage
from picomem.text.memory_keys import suggest_key, tells_of

_TELLING = 8  # characters of a name that is no word by chance


def texts_of(memory: Memory) -> list[str]:
    """All texts that a person or an agent wrote in a version."""
    return [memory.content, memory.context, memory.key, memory.path, *memory.tags, *memory.related]


@dataclass(slots=True)
class RemainingMemories:
    """One purge on its way through a user's memories; `projects` are those that go, `texts` what it deleted."""

    tx: Transaction
    writer: Writer
    scope: Scope
    plan: Plan
    projects: set[str]
    texts: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # of the changes that it blanked, in the record

    def purge(self, changes: Sequence[Change], purge: str) -> bool:
        """Delete the versions that go; by the change `purge` believe what is believed instead. Whether all versions of
        their memories matched their hash."""
        whole = True
        gone: dict[str, list[Memory]] = {}
        for memory, is_whole, _ in memories.stored_versions(self.tx, self.scope):
            if (memory.id, memory.version) in self.plan.versions:
                gone.setdefault(memory.id, []).append(memory)
                whole = whole and is_whole
        undoes = {change.id: change.undoes for change in changes if change.undoes}
        touched: set[str] = set()  # changes that opened or closed a version that goes
        names = {name for removed in gone.values() for memory in removed for name in (memory.key, memory.id)}
        for memory_id, going in gone.items():
            versions = self._versions(memory_id)
            # What stays may be closed, or get another key: full text has other words of a damaged version.
            whole = whole and memories.whole_versions(self.tx, self.scope, memory_id) is not None
            closers = memories.closers(self.tx, self.scope, memory_id)
            history = VersionHistory(versions, closers, undoes)
            numbers = {version.version for version in going}
            then = history.believed_without(numbers)
            now = history.believed_now()
            touched |= {version.change_id for version in going} | {closers[n] for n in numbers if n in closers}
            for version in going:
                self.texts += texts_of(version)
                memories.purge_version(self.tx, version)
            left = [version for version in versions if version.version not in numbers]
            # A past that goes leaves a gap; where the present goes, what was believed before holds again.
            if then and any(version.version in numbers and version.valid_to is None for version in now):
                self._believe_again(left, then, versions[-1].version, purge)
            if left:
                self._leave_project(memory_id)
            names -= self._rekeyed(memory_id, going, left)
        self._unrelate(names)
        self._blank(changes, gone, touched, names | self.plan.sessions)
        return whole

    def _versions(self, memory_id: str) -> list[Memory]:
        return memories.unchecked_versions(self.tx, self.scope, memory_id)

    def _believe_again(self, left: list[Memory], then: list[Memory], latest: int, purge: str) -> None:
        now = [version for version in left if version.known_to is None]
        opening = differing(then, now)
        for version in opening:
            if version.valid_to is None and memories.holder(self.tx, version) is not None:
                opening = [
                    other for other in opening if other is not version
                ]  # the key is another's: it stays archived
        believe(self.tx, self.writer, differing(now, then), opening, latest, purge)

    def _rekeyed(self, memory_id: str, going: list[Memory], left: list[Memory]) -> set[str]:
        """Give a memory that stays another key where its own was made of words that go; the names that stay."""
        if not left:
            return set()
        stays = {memory_id}
        versions = self._versions(memory_id)
        said = " ".join(version.content for version in going)
        for key in {version.key for version in versions}:
            kept = " ".join(f"{version.content} {version.context}" for version in versions if version.key == key)
            if not tells_of(key, said, kept):
                stays.add(key)
                continue
            suggested = suggest_key(versions[-1].content, versions[-1].kind.value)
            new = memories.free_key(self.tx, versions[-1].scope, suggested, memory_id)
            for version in versions:
                if version.key == key:
                    memories.rekey(self.tx, version, new)
        return stays

    def _leave_project(self, memory_id: str) -> None:
        """Take a memory that stays out of a project that goes, under a key that is free there."""
        for version in self._versions(memory_id):
            if version.scope.project in self.projects:
                memories.move(self.tx, version, "")

    def _unrelate(self, names: set[str]) -> None:
        """Take what goes out of the related entries of what stays."""
        for version in memories.stored_versions(self.tx, self.scope) if names else ():
            old = version.record
            if version.is_whole and names.intersection(old.related):
                new = replace(old, related=tuple(name for name in old.related if name not in names))
                memories.rewrite_text(self.tx, version, new)

    def _blank(
        self, changes: Sequence[Change], gone: Mapping[str, list[Memory]], touched: set[str], names: set[str]
    ) -> None:
        """Let no change say anything of what goes."""
        stay = {memory_id for memory_id in gone if self._versions(memory_id)}
        numbers = {(version.id, version.version) for versions in gone.values() for version in versions}
        for change in changes:
            lost = change.memory_id in gone and change.memory_id not in stay
            if not (
                lost
                or change.id in touched
                or change.id in self.plan.refusals
                or any(_names(change.reason, name) for name in names)
            ):
                continue
            self.texts += [*stored_words(change.reason), change.candidate]
            left = replace(
                change,
                memory_id="" if lost else change.memory_id,
                before=None if (change.memory_id, change.before) in numbers else change.before,
                after=None if (change.memory_id, change.after) in numbers else change.after,
            )
            self.links.append(audit.blank(self.tx, self.scope, left))
            memory_lineage.purge_lineage(self.tx, self.scope, "change", change.id)


def _names(reason: str, name: str) -> bool:
    """Return whether a reason speaks of a key, a memory or a session; a text that somebody wrote, of a short name only
    where it is quoted as one."""
    within = name if len(name) >= _TELLING else f"“{name}”"
    return any(part == name or within in part for part in written_in(reason))
