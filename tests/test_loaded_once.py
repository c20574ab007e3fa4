from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from picomem.loaded_once import loaded_once


def test_threads_that_ask_at_once_share_one_load():
    together = Barrier(8)
    loads: list[object] = []

    @loaded_once
    def loaded() -> object:
        loads.append(object())
        return loads[-1]

    def ask(_: int) -> object:
        together.wait()
        return loaded()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == set(loads)
    assert len(loads) == 1


def test_a_load_that_failed_is_tried_again():
    results = iter([None, "loaded"])

    @loaded_once
    def loaded() -> str:
        result = next(results)
        if result is None:
            raise OSError("not there yet")
        return result

    with pytest.raises(OSError, match="not there yet"):
        loaded()
    assert loaded() == "loaded"
