"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from picomem.text.late_pattern import late_pattern


def test_a_late_pattern_finds_what_the_pattern_does() -> None:
    late, plain, text = late_pattern(r"(?i)b(\d)", re.MULTILINE), re.compile(r"(?i)b(\d)", re.MULTILINE), "a b1 B2"
    assert late.findall(text) == plain.findall(text)
    assert [match.span() for match in late.finditer(text)] == [match.span() for match in plain.finditer(text)]
    assert late.sub("x", text) == plain.sub("x", text)
    assert (late.pattern, late.flags, late.groups) == (plain.pattern, plain.flags, plain.groups)
    assert late.match(text) is None


def test_a_wrong_pattern_is_an_error_when_it_is_used() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.search("a")


def test_who_only_imports_the_rules_for_other_peoples_words_compiles_none_of_them() -> None:
    code = """
import re
compiled = []
compile = re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: compiled.append(pattern) or compile(pattern, flags)
import picomem.provenance.requests
import picomem.provenance.whose_words
print([pattern for pattern in compiled if len(str(pattern)) > 200])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
