"""Which sentences of a message are statements that may last at all."""

from __future__ import annotations

import pytest

from picomem.policy.durability import find_durable


@pytest.mark.parametrize(
    "noise",
    [
        "birch saddle ribbon engine lantern tunnel parrot umbrella glacier hammer quarry garden",
        "vlkaste mbeodpf sizrkrm dfegzpn vtvbozk naugkln mftiaot bptumrl onzblsv kptbkmu",
        "README.md src tests docs Makefile LICENSE pyproject.toml CHANGELOG.md scripts assets",
    ],
)
def test_words_that_make_no_sentence_are_not_captured(noise: str) -> None:
    assert find_durable(noise) == []


@pytest.mark.parametrize(
    "statement",
    [
        "We decided to keep the invoices in PostgreSQL from now on.",
        "I never eat fish because I am allergic to it.",
    ],
)
def test_a_statement_that_lasts_is_captured(statement: str) -> None:
    assert [candidate.content for candidate in find_durable(statement)] == [statement.rstrip(".")]
