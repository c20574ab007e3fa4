"""Redaction: what is found (S4), what is left alone (S4), and what hostile text costs (S10)."""

from __future__ import annotations

import hmac
import random
import sysconfig
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.amounts import amount
from tests.cases import each_case
from tests.cost import cost, python_calls

from benchmarks.redaction import ENOUGH, HOSTILE, changes, share_caught
from benchmarks.secret_patterns import Shape
from benchmarks.secret_shapes import BENIGN, HELD_OUT_BENIGN
from benchmarks.secret_shapes import FRESH as FRESH_SHAPES
from benchmarks.secret_shapes import HELD_OUT as HELD_OUT_SHAPES
from benchmarks.secret_shapes import RECENT as RECENT_SHAPES
from benchmarks.secret_shapes import TUNED as TUNED_SHAPES
from picomem.errors import InvalidInput
from picomem.ingest.noise import clean
from picomem.policy.redact import Redactor, check_ids
from picomem.policy.secret_rules import RUN, Rule, load_rules
from picomem.policy.secret_scanner import Scanner
from picomem.records.scope import Scope

from .secrets_corpus import B62, HELD_OUT, TUNED

pytestmark = pytest.mark.reliability("S4", "S10")

KEY = bytes(range(32))
_MARK = "[redacted:aws-access-key:1a2b3c4d]"
_IN_TAGS = "".join(chr(0xE0000 + ord(c)) for c in "AKIAABCDEFGH2345WXYZ")
SIZE = 40_000
INSTANCES = amount(20, 400)  # secrets drawn of each shape


RULES = load_rules()
SCANNERS = {"re": Scanner(re2=False)}
if find_spec("re2"):  # no wheel for this Python: the fallback is what there is
    SCANNERS["re2"] = Scanner(re2=True)
SHAPELESS = st.text(st.characters(exclude_categories=()), max_size=60)
PIECES = st.sampled_from(
    [text for half in (TUNED, HELD_OUT) for text, _ in half.positives]
    + [*TUNED.benign, *HELD_OUT.benign]
    + [gate for rule in RULES for part in rule.needs for gate in part]
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
@each_case(("text", "secret"), TUNED.positives)
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
def test_a_secret_beside_the_id_of_its_key_needs_no_label(redactor: Redactor) -> None:
    secret = "FDSI/heMoo/Hsxoqi+Vxg+4g3J/CBaKp4o4vZT77"
    assert secret not in redactor.redact(f"AKIAIOSFODNN7EXAMPL1 / {secret}").text


@pytest.mark.requirement("O7")
def test_unseen_secrets_are_mostly_found(redactor: Redactor) -> None:
    missed = sum(secret in redactor.redact(text).text for text, secret in HELD_OUT.positives)
    assert missed <= len(HELD_OUT.positives) * 0.1


@pytest.mark.requirement("O7")
@each_case("line", [*TUNED.benign, *HELD_OUT.benign])
def test_benign_lines_stay_as_they_are(redactor: Redactor, line: str) -> None:
    assert redactor.redact(line).text == line


@pytest.mark.requirement("O7")
@each_case("shape", TUNED_SHAPES, ids=lambda shape: shape.name)
def test_of_a_known_shape_99_of_100_secrets_are_gone(redactor: Redactor, shape: Shape) -> None:
    assert share_caught(redactor, shape, INSTANCES) >= ENOUGH


@pytest.mark.reliability("S4")
def test_a_secret_is_caught_in_a_transcript_whose_layout_was_collapsed(redactor: Redactor) -> None:
    """Reading a transcript leaves single spaces and no indentation before anything is redacted."""
    lost = [shape.name for shape in TUNED_SHAPES if share_caught(redactor, shape, 20, clean) < ENOUGH]
    assert lost == []


@pytest.mark.requirement("O7")
@each_case(
    ("shapes", "least"),
    [(HELD_OUT_SHAPES, 19), (FRESH_SHAPES, 11), (RECENT_SHAPES, 7)],
    ids=["held out", "fresh", "recent"],
)
def test_of_shapes_that_no_rule_was_made_for_as_many_are_caught_as_ever(
    redactor: Redactor, shapes: tuple[Shape, ...], least: int
) -> None:
    caught = [shape.name for shape in shapes if share_caught(redactor, shape, INSTANCES) >= ENOUGH]
    assert len(caught) >= least


@pytest.mark.requirement("O7")
def test_no_drawing_of_a_benign_line_is_changed(redactor: Redactor) -> None:
    assert [line for line in (*BENIGN, *HELD_OUT_BENIGN) if changes(redactor, line)] == []


@pytest.mark.requirement("O7")
@each_case(
    "text",
    [
        "ghp_\u200b{}\u00ad{}",
        "ghp_{}\u034f{}",
        "g\ufe0fhp_{}\u2060{}",
        "ghp_{}\u202e{}\u202c",
        "ghp_{}\U000e0068\U000e0069{}",
        "ghp_{}\U0001bca0{}",
        "ghp_{}\\\n    {}",
        "\x1b[01;31mghp_{}\x1b[0m{}",
    ],
    ids=[
        "zero width",
        "joiner",
        "variation selector",
        "direction",
        "tags",
        "shorthand",
        "continued line",
        "terminal codes",
    ],
)
def test_a_secret_does_not_survive_by_hiding_characters_in_it(redactor: Redactor, text: str) -> None:
    halves = "abcDEF0123456789zz", "98765432ZYXwvu1100"
    redacted = redactor.redact("before 👩\u200d💻 " + text.format(*halves) + " می\u200cخواهم after")
    assert not any(half in redacted.text for half in halves)
    plain = redactor.redact(f"ghp_{halves[0]}{halves[1]}").findings[0]
    assert [finding.fingerprint for finding in redacted.findings] == [plain.fingerprint]
    assert redacted.text.startswith("before 👩\u200d💻 ")
    assert redacted.text.endswith(" می\u200cخواهم after")


@pytest.mark.requirement("O7")
@each_case(
    ("text", "redacted"),
    [
        ("ｐａｓｓｗｏｒｄ：Harbor1648", "ｐａｓｓｗｏｒｄ：{}"),
        ("ＤＢ＿ＰＡＳＳＷＯＲＤ＝Harbor1648 と", "ＤＢ＿ＰＡＳＳＷＯＲＤ＝{} と"),
        ("密码：Ｈａｒｂｏｒ１６４８ 谢谢", "密码：{} 谢谢"),
    ],
    ids=["label", "assignment", "value"],
)
def test_letters_of_full_width_hide_neither_a_label_nor_a_secret(redactor: Redactor, text: str, redacted: str) -> None:
    result = redactor.redact(text)
    assert result.text == redacted.format(result.findings[0].mark)
    plain = redactor.redact("password=Harbor1648").findings[0]
    assert [finding.fingerprint for finding in result.findings] == [plain.fingerprint]


@pytest.mark.requirement("O7")
def test_a_secret_that_is_spelled_in_tag_characters_is_gone(redactor: Redactor) -> None:
    flag = "🏴" + "".join(chr(0xE0000 + ord(c)) for c in "gbeng") + "\U000e007f"
    redacted = redactor.redact(f"{flag} nothing here{_IN_TAGS} to see")
    assert redacted.text == f"{flag} nothing here{redacted.findings[0].mark} to see"
    assert redactor.redact(redacted.text).findings == ()


@pytest.mark.requirement("O7")
@each_case(
    "scope",
    [
        Scope(user="sk-ant-api03-" + "aB3xK9mQ2z" * 9),
        Scope(agent="ghp_" + "aB3xK9mQ2z" * 4),
        Scope(project="password=hunter2!x"),
        Scope(session="AKIAABCDEFGH2345WXYZ"),
    ],
    ids=["user", "agent", "project", "session"],
)
def test_an_id_that_looks_like_a_secret_is_refused_without_repeating_it(scope: Scope) -> None:
    with pytest.raises(InvalidInput, match="id looks like a secret") as refused:
        check_ids(scope)
    assert not any(value and value in str(refused.value) for value in (scope.agent, scope.project, scope.session))


@each_case(
    "user",
    [
        "local",
        "mia@example.com",
        "whatsapp:4915123456789@s.whatsapp.net",
        "ws:3fa9c1d2",
        "user_2NNEqL2nrIRdJ194ndJqAHwEfxC",
        "550e8400-e29b-41d4-a716-446655440000",
        "3f9c2ab41d5e6f708192a3b4c5d6e7f8",
        "auth0|64b0c9e2f1a2b3c4d5e6f708",
    ],
)
def test_usual_ids_are_no_secrets(user: str) -> None:
    assert check_ids(Scope(user=user)).user == user


@pytest.mark.requirement("O7")
def test_a_library_s_source_has_at_most_one_finding_per_megabyte(redactor: Redactor) -> None:
    source = _stdlib("email", "json", "http", "urllib", "asyncio", "logging", "xml", "importlib", "unittest")
    megabytes = len(source) / 1e6
    assert megabytes >= 1
    chunks = [source[at : at + 40_000] for at in range(0, len(source), 40_000)]
    findings = [finding for chunk in chunks for finding in redactor.redact(chunk).findings]
    assert len(findings) <= megabytes


@given(text=TEXTS, engine=st.sampled_from(sorted(SCANNERS)))
def test_redacting_twice_changes_nothing(text: str, engine: str) -> None:
    redactor = Redactor(KEY, scanner=SCANNERS[engine])
    once = redactor.redact(text)
    twice = redactor.redact(once.text)
    assert (twice.text, twice.findings) == (once.text, ())


@given(text=TEXTS, engine=st.sampled_from(sorted(SCANNERS)))
def test_findings_are_the_places_that_were_replaced(text: str, engine: str) -> None:
    redacted = Redactor(KEY, scanner=SCANNERS[engine]).redact(text)
    rebuilt, last = "", 0
    for finding in redacted.findings:
        assert last <= finding.start < finding.end <= len(text)
        rebuilt += text[last : finding.start] + f"[redacted:{finding.rule}:{finding.fingerprint}]"
        last = finding.end
    assert rebuilt + text[last:] == redacted.text


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


@each_case("text", [f"{_MARK} ", f"{_MARK}{_IN_TAGS} "], ids=["marks", "marks and secrets in tags"])
def test_each_mark_costs_the_same_however_many_there_are(redactor: Redactor, text: str) -> None:
    few, many = (python_calls(partial(redactor.redact, text * count)) for count in (50, 500))
    assert many < 11 * few


def test_a_mark_with_a_secret_in_tag_characters_inside_is_no_mark(redactor: Redactor) -> None:
    redacted = redactor.redact(f"{_MARK} [redacted:aws-{_IN_TAGS}access-key:1a2b3c4d] {_MARK}")
    assert redacted.text.startswith(f"{_MARK} [redacted:aws-{redacted.findings[0].mark}access-key:")
    assert redacted.text.endswith(f"] {_MARK}")


def test_equal_secrets_get_equal_marks_and_other_keys_get_others() -> None:
    token = "ghp_" + "".join(random.Random(5).choices(B62, k=36))
    one, two = Redactor(KEY), Redactor(KEY[::-1])
    here, there = one.redact(f"first {token}"), one.redact(f"API_TOKEN={token}")
    assert here.findings[0].fingerprint == there.findings[0].fingerprint
    assert two.redact(token).findings[0].fingerprint != here.findings[0].fingerprint


@each_case("key", [KEY, bytes(range(100))], ids=["usual", "longer than a block"])
def test_a_fingerprint_is_the_beginning_of_the_hmac_of_the_secret(key: bytes) -> None:
    token = "ghp_" + "".join(random.Random(6).choices(B62, k=36))
    expected = hmac.digest(key, token.encode(), "sha256").hex()[:8]
    assert Redactor(key).redact(token).findings[0].fingerprint == expected


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


def _literals(rule: Rule) -> Iterator[str]:
    """The rule's literals in the case in which its pattern writes them."""
    for gate in rule.needs[0]:
        at = rule.pattern.lower().find(gate)
        if at >= 0 and rule.pattern[at : at + len(gate)] != gate:
            yield rule.pattern[at : at + len(gate)]


def _hostile(rule: Rule) -> Iterator[str]:
    """Ten and more inputs that repeat the rule's own beginnings, 40 KB each."""
    first, last = (rule.needs[0][0], rule.needs[0][-1]) if rule.needs[0] != (RUN,) else ("MTIz", "L")
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
        f"**{first}:** `",
        f"| {first} | a",
        f"{first} (a",
        f"{first} for a ",
        f"change {first} from a to ",
    )
    units += tuple(_literals(rule))[:3]
    whole = [unit * (SIZE // len(unit) + 1) for unit in units]
    whole += [first + "a" * SIZE, first + " " * SIZE, "".join(draw.choices(signs, k=SIZE))]
    return (text.encode()[:SIZE].decode("utf-8", "ignore") for text in whole)


def _read(scanner: Scanner, rule: Rule, text: str) -> int:
    return sum(1 for _ in scanner.find(rule, text))


@pytest.mark.requirement("O7")
@each_case("engine", sorted(SCANNERS))
@each_case("rule", RULES, ids=lambda rule: rule.id)
def test_hostile_text_costs_a_rule_at_most_50_ms(rule: Rule, engine: str) -> None:
    texts = list(_hostile(rule))
    assert len(texts) >= 10
    assert max(cost(lambda text=text: _read(SCANNERS[engine], rule, text), 0.05) for text in texts) <= 0.05


@pytest.mark.requirement("O7")
@each_case("engine", sorted(SCANNERS))
@each_case("kind", HOSTILE)
def test_twice_the_text_takes_at_most_three_times_as_long(kind: str, engine: str) -> None:
    redactor = Redactor(KEY, scanner=SCANNERS[engine])
    most = 3 * _seconds(redactor, HOSTILE[kind](SIZE // 2)) + 0.01
    assert _seconds(redactor, HOSTILE[kind](SIZE), enough=most) <= most


def _seconds(redactor: Redactor, text: str, enough: float = 0.0) -> float:
    """The least of three runs, in processor time. A run within `enough` is the last one."""
    spent: list[float] = []
    while len(spent) < 3 and not (spent and spent[-1] <= enough):
        start = time.process_time()
        redactor.redact(text)
        spent.append(time.process_time() - start)
    return min(spent)


@given(TEXTS)
def test_the_first_text_is_redacted_as_every_later_one(text: str) -> None:
    assert Redactor(KEY, scanner=Scanner()).redact(text) == Redactor(KEY, scanner=max(SCANNERS.items())[1]).redact(text)


@pytest.mark.skipif("re2" not in SCANNERS, reason="no wheel for this Python: there is one engine only")
def test_brief_texts_are_scanned_without_re2_as_with_it() -> None:
    texts = [text for half in (TUNED, HELD_OUT) for text, _ in half.positives] + [*TUNED.benign, *HELD_OUT.benign]
    draw = random.Random(8)
    for text in texts + [" ".join(draw.sample(texts, 3)) for _ in range(amount(300, 20_000))]:
        brief = Scanner()
        for part in (text, text[: draw.randint(1, len(text))], text[draw.randrange(len(text)) :]):
            assert brief.scan(part) == SCANNERS["re2"].scan(part)


@pytest.mark.skipif("re2" not in SCANNERS, reason="no wheel for this Python: there is one engine only")
def test_re2_is_not_loaded_for_a_few_brief_texts() -> None:
    scanner = Scanner()
    redactor = Redactor(KEY, scanner=scanner)
    assert redactor.redact("The harbor crane is blue").findings == ()
    assert redactor.redact("The password is hunter2hunter2").findings
    assert not scanner.has_loaded_re2
    for text in ["The password is in the vault"] * 100:
        redactor.redact(text)
    assert scanner.has_loaded_re2


@pytest.mark.skipif("re2" not in SCANNERS, reason="no wheel for this Python: there is one engine only")
@each_case("text", ["Das Paßwort: hunter2hunter2", "The password is in the vault. " * 100])
def test_re2_is_loaded_for_a_text_beyond_ascii_and_for_a_long_one(text: str) -> None:
    scanner = Scanner()
    Redactor(KEY, scanner=scanner).redact(text)
    assert scanner.has_loaded_re2
