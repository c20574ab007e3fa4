"""A table of cases in one test, which goes through all of them and names every case that fails.

    @each_case(("text", "terms"), [("Tabs", ["tabs"]), …])
    def test_a_text_has_its_terms(text: str, terms: list[str]) -> None: ...

It takes what `pytest.mark.parametrize` takes. A case of that is a test of its own, with fixtures, reports and a place in the
queue of a worker, which costs more than most cases do. Use it where a case leaves the fixtures of the test as they were.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def each_case(
    names: str | Sequence[str], cases: Iterable[Any], *, ids: Sequence[str] | Callable[[Any], Any] | None = None
) -> Callable[[Test], Test]:
    """Call the test once for each case. Every case that fails is an exception of a group, with a note that names it."""
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [
        _Case(arguments, case, ids[number] if isinstance(ids, Sequence) else None, ids if callable(ids) else None)
        for number, case in enumerate(cases)
    ]
    if not table:
        raise ValueError(f"There is no case of {', '.join(arguments)}.")

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def go_through(**fixtures: Any) -> None:
            failures = [failure for case in table if (failure := case.failure(test, fixtures))]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} cases failed", failures)

        signature = inspect.signature(test)
        missing = [name for name in arguments if name not in signature.parameters]
        if missing:
            raise TypeError(f"{test.__qualname__} takes no {', '.join(missing)}.")
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        go_through.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined] - pytest reads it
        return go_through

    return decorate


class _Case:
    def __init__(self, names: Sequence[str], case: Any, name: str | None, named: Callable[[Any], Any] | None) -> None:
        values = [case]
        if isinstance(case, type(pytest.param())):
            if case.marks:
                raise ValueError("A case of a table has no marks of its own.")
            values, name = list(case.values), case.id if isinstance(case.id, str) else name
        elif len(names) > 1:
            values = list(case)
        self.values = dict(zip(names, values, strict=True))
        self.name = name or "-".join(str(named(value)) if named else repr(value) for value in values)

    def failure(self, test: Test, fixtures: dict[str, Any]) -> BaseException | None:
        """What the test raises for this case, with a note."""
        try:
            test(**self.values, **fixtures)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - the group raises it
            error.add_note(f"The case: {self.name:.500}")
            return error
        return None
