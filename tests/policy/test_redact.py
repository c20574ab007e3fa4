"""Redaction: what is found (S4), what is left alone (S4), and what hostile text costs (S10)."""

from __future__ import annotations

import contextlib
import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cost import cost

from picomem.errors import InvalidInput
from picomem.policy.redact import Redactor
from picomem.policy.secret_rules import RULES, Rule
from picomem.policy.secret_scanners import (
    LinearScanner,
    PatientScanner,
    Scanner,
    WindowScanner,
    best_engine,
    secrets_of,
)

from .secrets_corpus import B62, HELD_OUT, TUNED

KEY = bytes(range(32))
SIZE = 40_000


def _scanners() -> dict[str, Scanner]:
    found: dict[str, Scanner] = {"re": WindowScanner()}
    with contextlib.suppress(ImportError):  # no wheel for this Python: the fallback is what there is
        found["re2"] = LinearScanner()
    return found


SCANNERS = _scanners()
SHAPELESS = st.text(st.characters(exclude_categories=()), max_size=60)
PIECES = st.sampled_from(
    [text for half in (TUNED, HELD_OUT) for text, _ in half.positives]
    + [*TUNED.benign, *HELD_OUT.benign]
    + [gate for rule in RULES for gate in rule.gates]
    + [
        "[redacted:",
        "[redacted:jwt:0a1b2c3d]",
        "]",
        '"',
        "'",
        "=",
        ": ",
        " is ",
        "\ud800",
        "\0",
        "İ",
        "é",
        "密码",
        "\\",
    ]
)
TEXTS = st.lists(PIECES | SHAPELESS, max_size=6).map("".join)


@pytest.fixture(params=sorted(SCANNERS))
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return Redactor(KEY, scanner=SCANNERS[request.param])


def _stdlib(*packages: str) -> str:
    root = Path(sysconfig.get_path("stdlib"))
    files = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


@pytest.mark.requirement("O7")
@pytest.mark.parametrize(("text", "secret"), TUNED.positives)
def test_known_shapes_lose_the_secret_and_nothing_else(redactor: Redactor, text: str, secret: str) -> None:
    redacted = redactor.redact(text)
    assert secret not in redacted.text
    assert [text[finding.start : finding.end] for finding in redacted.findings] == [secret]
    finding = redacted.findings[0]
    assert redacted.text == text.replace(secret, f"[redacted:{finding.rule}:{finding.fingerprint}]")


def test_every_rule_has_a_text_that_only_it_names(redactor: Redactor) -> None:
    named = {f.rule for text, _ in TUNED.positives for f in redactor.redact(text).findings}
    assert {rule.id for rule in RULES} - named == set()
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.requirement("O7")
def test_unseen_secrets_are_mostly_found(redactor: Redactor) -> None:
    missed = sum(secret in redactor.redact(text).text for text, secret in HELD_OUT.positives)
    assert missed <= len(HELD_OUT.positives) * 0.1


@pytest.mark.requirement("O7")
@pytest.mark.parametrize("line", [*TUNED.benign, *HELD_OUT.benign])
def test_benign_lines_stay_as_they_are(redactor: Redactor, line: str) -> None:
    assert redactor.redact(line).text == line


@pytest.mark.requirement("O7")
def test_a_library_s_source_has_at_most_one_finding_per_megabyte(redactor: Redactor) -> None:
    source = _stdlib("email", "json", "http", "urllib", "asyncio", "logging", "xml", "importlib", "unittest")
    megabytes = len(source) / 1e6
    assert megabytes >= 1
    chunks = [source[at : at + 40_000] for at in range(0, len(source), 40_000)]
    found = [finding for chunk in chunks for finding in redactor.redact(chunk).findings]
    assert len(found) <= megabytes


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, engine=st.sampled_from(sorted(SCANNERS)))
def test_redacting_twice_changes_nothing(text: str, engine: str) -> None:
    redactor = Redactor(KEY, scanner=SCANNERS[engine])
    once = redactor.redact(text)
    twice = redactor.redact(once.text)
    assert (twice.text, twice.findings) == (once.text, ())


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, engine=st.sampled_from(sorted(SCANNERS)))
def test_findings_are_the_places_that_were_replaced(text: str, engine: str) -> None:
    redacted = Redactor(KEY, scanner=SCANNERS[engine]).redact(text)
    rebuilt, last = "", 0
    for finding in redacted.findings:
        assert last <= finding.start < finding.end <= len(text)
        rebuilt += text[last : finding.start] + f"[redacted:{finding.rule}:{finding.fingerprint}]"
        last = finding.end
    assert rebuilt + text[last:] == redacted.text


@settings(max_examples=100, deadline=None)
@given(
    case=st.sampled_from(TUNED.positives),
    before=st.text(st.characters(categories=["Lo", "So", "Cs", "Cc"]), max_size=20),
)
def test_text_of_any_script_before_a_secret_does_not_shift_it(case: tuple[str, str], before: str) -> None:
    text, secret = case
    text = f"{before}\n{text}"
    redacted = Redactor(KEY).redact(text)
    assert secret in {text[finding.start : finding.end] for finding in redacted.findings}
    assert redacted.text.startswith(before)


def test_surrogates_and_nul_are_kept(redactor: Redactor) -> None:
    text = "\ud800\0é密 password = 'hunter2!' \udfff\0"
    redacted = redactor.redact(text)
    assert redacted.text.startswith("\ud800\0é密 password = '[redacted:assignment:")
    assert redacted.text.endswith("]' \udfff\0")


def test_equal_secrets_get_equal_marks_and_other_keys_get_others() -> None:
    token = "ghp_" + "".join(random.Random(5).choices(B62, k=36))
    one, two = Redactor(KEY), Redactor(KEY[::-1])
    here, there = one.redact(f"first {token}"), one.redact(f"API_TOKEN={token}")
    assert here.findings[0].fingerprint == there.findings[0].fingerprint
    assert two.redact(token).findings[0].fingerprint != here.findings[0].fingerprint


def test_a_secret_found_once_is_gone_everywhere_in_the_text(redactor: Redactor) -> None:
    text = "password = 'Tr0ub4dor-x9'\nI typed Tr0ub4dor-x9 twice: Tr0ub4dor-x9Tr0ub4dor-x9"
    redacted = redactor.redact(text)
    assert "Tr0ub4dor" not in redacted.text
    assert len({finding.fingerprint for finding in redacted.findings}) == 1


def test_many_secrets_in_one_text_are_all_replaced(redactor: Redactor) -> None:
    draw = random.Random(9)
    tokens = ["ghp_" + "".join(draw.choices(B62, k=36)) for _ in range(400)]
    redacted = redactor.redact(" ".join(tokens))
    assert len(redacted.findings) == 400
    assert "ghp_" not in redacted.text


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Redactor(b"short")


def _hostile(rule: Rule) -> Iterator[str]:
    """Ten inputs that repeat the rule's own beginnings, 40 KB each."""
    first, last = rule.gates[0], rule.gates[-1]
    draw = random.Random(rule.id)
    signs = [first, last, *" \"'=:a1-/@._;\n", "\\n", "password", " is "]
    units = (
        first,
        f"{first} ",
        f'{first}="',
        f"{first.upper()}_A1-",
        f"{last}: ",
        f"{last}://:@",
        f"A1b2-_.{first}",
    )
    whole = [unit * (SIZE // len(unit) + 1) for unit in units]
    whole += [first + "a" * SIZE, first + " " * SIZE, "".join(draw.choices(signs, k=SIZE))]
    return (text.encode()[:SIZE].decode("utf-8", "ignore") for text in whole)


def _read(scanner: Scanner, rule: Rule, text: str) -> int:
    return sum(1 for _ in secrets_of(rule, scanner.view(text), scanner.view))


@pytest.mark.requirement("O7")
@pytest.mark.parametrize("engine", sorted(SCANNERS))
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_hostile_text_costs_a_rule_at_most_50_ms(rule: Rule, engine: str) -> None:
    texts = list(_hostile(rule))
    assert len(texts) == 10
    assert max(cost(lambda text=text: _read(SCANNERS[engine], rule, text), 0.05) for text in texts) <= 0.05


ENGINE = best_engine()


@given(TEXTS)
def test_the_first_text_is_redacted_as_every_later_one(text: str) -> None:
    fresh = Redactor(KEY, scanner=PatientScanner(lambda: ENGINE))
    assert fresh.redact(text) == Redactor(KEY, scanner=ENGINE).redact(text)


def test_no_engine_is_made_for_a_text_without_the_literal_of_a_rule() -> None:
    made: list[Scanner] = []

    def engine() -> Scanner:
        made.append(ENGINE)
        return ENGINE

    redactor = Redactor(KEY, scanner=PatientScanner(engine))
    assert redactor.redact("The harbor crane is blue").findings == ()
    assert made == []
    redactor.redact("The password is hunter2hunter2")
    redactor.redact("AKIA is how a key begins")
    assert len(made) == 1
