"""Which sentences of a message are statements that may last at all."""

from __future__ import annotations

import pytest

from picomem.policy.durability import find_durable
from picomem.policy.sentence_signals import observe


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


@pytest.mark.parametrize(
    ("sentence", "untrue"),
    [
        ("我们的后端统一用 Go 1.23，前端用 Svelte。", "names a weekday or a time"),
        ("测试环境的数据库在 10.0.3.12 上，端口 5433。", "names a weekday or a time"),
        ("我女儿叫小雨，今年上二年级。", "begins with I"),
        ("The invoices table is partitioned by month since the migration in March.", "says from now on"),
    ],
)
def test_no_signal_of_a_sentence_is_untrue(sentence: str, untrue: str) -> None:
    assert untrue not in observe(sentence).signals


def test_times_of_day_are_seen_as_such() -> None:
    for sentence in ("The call begins at 9:30", "The call begins at 9.30 am", "Das Treffen beginnt um 9.30 Uhr"):
        assert "names a weekday or a time" in observe(sentence).signals
