"""Results as text."""

from __future__ import annotations

from importlib import import_module

import pytest

from picomem.cli.text.results import _MODULE_OF
from picomem.operations.table import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_a_text(name: str) -> None:
    module = import_module(f"picomem.cli.text.{_MODULE_OF[name]}")
    assert callable(getattr(module, name.replace("-", "_")))
