"""Moments as callers give them, in milliseconds since 1970."""

from __future__ import annotations

import pytest
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.errors import InvalidTime
from picomem.operations import table


@each_case("given", [2**53, -(2**53), 10**15, "9999999999999999", "-999999999999999", "9" * 40])
@each_case("field", ["since", "until"])
@each_case("verb", ["days", "timeline", "changes"])
def test_a_moment_that_no_calendar_holds_is_refused_in_a_sentence(
    verb: str, field: str, given: int | str, engine: Engine
) -> None:
    operation = table.operation(verb)
    with pytest.raises(InvalidTime, match="outside the years 1 to 9999"):
        operation.call(engine, operation.request(**{field: given}))
