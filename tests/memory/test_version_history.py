"""Which versions of a memory an earlier time means: of what was believed then, and of what was true then."""

from __future__ import annotations

from tests.cases import each_case

from picomem.memory.version_history import versions_at
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope


def version(content: str, valid: tuple[int, int | None], known: tuple[int, int | None]) -> Memory:
    return Memory(
        id="crane", version=1, scope=Scope(), key="crane", kind=Kind.FACT, content=content, importance=0.5,
        valid_from=valid[0], valid_to=valid[1], known_from=known[0], known_to=known[1], created_at=0, tokens=1,
        change_id="c",
    )  # fmt: skip


# At 10 the crane was stated to be blue; at 20 that it has been red since 15, so what was blue ended then.
REVISED = [
    version("blue, still", (10, None), (10, 20)),
    version("blue until 15", (10, 15), (20, None)),
    version("red", (15, None), (20, None)),
]
ARCHIVED = [version("blue", (10, None), (10, 20))]


@each_case(
    ("versions", "known_before", "true_before", "expected"),
    [
        (REVISED, None, None, ["blue, still", "blue until 15", "red"]),
        (REVISED, 10, None, []),
        (REVISED, 20, None, ["blue, still"]),
        (REVISED, 21, None, ["blue until 15", "red"]),
        (REVISED, None, 15, ["blue until 15"]),
        (REVISED, None, 16, ["red"]),
        (REVISED, 20, 16, ["blue, still"]),
        (REVISED, None, 10, []),
        (ARCHIVED, None, 16, ["blue"]),
        (ARCHIVED, 21, None, []),
    ],
)
def test_a_time_selects_the_versions_believed_and_true_right_before_it(
    versions: list[Memory], known_before: int | None, true_before: int | None, expected: list[str]
) -> None:
    assert [memory.content for memory in versions_at(versions, known_before, true_before)] == expected
