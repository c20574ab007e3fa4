"""The page on the library has a working example for every public name, and the package is typed."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.cases import each_case

import picomem

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
PUBLIC = sorted({*picomem.__all__, *(name for name in dir(picomem.Engine) if not name.startswith("_"))})


def code_of(text: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


@each_case("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\b", code_of(SECTIONS.get(name, ""))), f"docs/library.md has no example of {name}"


def test_the_page_names_nothing_that_is_not_public() -> None:
    assert sorted(SECTIONS) == PUBLIC


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PICOMEM_DATA_DIR", str(tmp_path / "data"))
    examples = doctest.DocTestParser().get_doctest(code_of(PAGE), {}, "library.md", "docs/library.md", 0)
    report: list[str] = []
    results = doctest.DocTestRunner(verbose=False).run(examples, out=report.append)
    assert results.failed == 0, "".join(report)
    assert results.attempted > len(PUBLIC)


def test_the_wheel_says_that_it_is_typed(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert "picomem/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_what_a_user_calls_is_annotated_throughout() -> None:
    members = {name: getattr(picomem.Engine, name) for name in PUBLIC if hasattr(picomem.Engine, name)}
    functions = {name: value.fget if isinstance(value, property) else value for name, value in members.items()}
    assert [name for name, function in functions.items() if "return" not in function.__annotations__] == []
    assert [name for name, function in functions.items() if not (function.__doc__ or "").strip()] == []
