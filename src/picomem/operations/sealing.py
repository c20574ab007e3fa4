"""Operations that seal a store, open it for good, or give it another key. They are for the operator, at the machine."""

from __future__ import annotations

from picomem.engine.engine import Engine
from picomem.engine.store_sealing import Sealing, change_key, seal, unseal
from picomem.light_dataclass import dataclass, replace
from picomem.operations.operation import Operation, Progressing, option
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text

_MOST_FILES = 10


@dataclass(frozen=True, slots=True)
class EncryptRequest:
    pass


@dataclass(frozen=True, slots=True)
class DecryptRequest:
    pass


@dataclass(frozen=True, slots=True)
class RekeyRequest:
    new_key_file: str = option("a file with the new key, where picomem cannot change the old one itself", "", path=True)


_ELSEWHERE = (
    "Backups and exports made before are as they were: picomem does not know where they lie. Delete them, or make new "
    "ones. Deleted files may also stand in free space of the disk until it is written again."
)
_OLD_KEY = "Backups made before still need the old key; keep it as long as them, or make new ones and destroy it."
_KEEP_KEY = "Nobody can read the store without its key: keep a copy of the key in another place than the backups."
_STILL_KEY = "A new store is sealed as long as a key is given; take it out of the settings to end that."


def encrypt(engine: Engine, _request: EncryptRequest, progress: Progressing | None = None) -> Sealing:
    """Seal the store: encrypt its file, its log and its copies from now on with a key that only you have.

    [store] of the settings says where the key is kept, and it is made there if there is none; `picomem unlock --new`
    chooses a pass phrase instead. Programs that have the store open store nothing more until they are restarted.
    """
    done = seal(engine, progress)
    return replace(done, warnings=[*done.warnings, _KEEP_KEY, _ELSEWHERE])


def decrypt(engine: Engine, _request: DecryptRequest, progress: Progressing | None = None) -> Sealing:
    """Write a sealed store as a plain file again; its key is kept, because backups need it."""
    done = unseal(engine, progress)
    return replace(done, warnings=[*done.warnings, _STILL_KEY]) if done.key else done


def rekey(engine: Engine, request: RekeyRequest, progress: Progressing | None = None) -> Sealing:
    """Give a sealed store another key, after which the old one opens nothing but backups made before.

    Programs that have the store open store nothing more until they are restarted.
    """
    done = change_key(engine, request.new_key_file, progress)
    given = (
        [f"Give the new key to picomem from now on: it is in {request.new_key_file}."] if request.new_key_file else []
    )
    return replace(done, warnings=[*done.warnings, *given, _OLD_KEY])


def _present(result: Sealing) -> Presentation:
    said = {
        "sealed": f"{result.store} is sealed with the key in {result.key}.",
        "plain": f"{result.store} is not sealed: anybody who can read the file can read all of it.",
        "rekeyed": f"{result.store} is sealed with another key, which is in {result.key}.",
    }
    already = "" if result.changed else " It was so before."
    blocks: list[Block] = [Sentence(said.get(result.state, f"{result.store} is {result.state}.") + already)]
    if result.others:
        blocks.append(PresentedEntry("So are the stores kept beside it:", tuple(map(Text, result.others))))
    if result.daily_copies_removed:
        blocks.append(Sentence("Its daily copies were removed; the next one is made within a day."))
    if result.plain:
        named = [*result.plain[:_MOST_FILES]]
        if len(result.plain) > _MOST_FILES:
            named.append(f"and {len(result.plain) - _MOST_FILES:,} more; --json lists them all.")
        blocks.append(PresentedEntry("These files still hold text of it in plain:", tuple(map(Text, named))))
    next_steps = ("Restart the programs that had the store open: they store nothing more until then.",)
    return Presentation(
        blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=next_steps if result.changed else ()
    )


def _operation(run, example: str) -> Operation:
    return Operation(
        name=run.__name__,
        group="maintain",
        run=run,
        present=_present,
        reply=lambda result: f"{result.store}: {result.state}",
        permission="memory:write:global",
        example=example,
        destructive=True,
        long=True,
        progress_unit="bytes",
        opens_store=False,
        operator=True,
    )


OPERATIONS = (
    _operation(encrypt, "picomem encrypt"),
    _operation(decrypt, "picomem decrypt"),
    _operation(rekey, "picomem rekey"),
)
