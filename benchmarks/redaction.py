"""`python -m benchmarks redaction`: which shapes of secrets are detected, what is redacted by mistake, and how fast.

A shape counts as detected if 99 of 100 secrets generated from it are gone from their texts, with neither half of them
left. A false alarm is a benign line that is changed in any of its variants. Speed is measured on one long line of
each hostile kind.
"""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable, Sequence

from benchmarks.secret_patterns import Shape, fill
from benchmarks.secret_shapes import BENIGN, FRESH, HELD_OUT, HELD_OUT_BENIGN, RECENT, TUNED
from picomem.light_dataclass import dataclass
from picomem.policy.redact import Redacted, Redactor
from picomem.text.visible_text import VisibleText, spelled_in_tags

ENOUGH = 0.99  # of the secrets of a shape
_BENIGN_DRAWINGS = 25
_SIZE = 5_000_000  # characters
_HALF = 6  # characters: a shorter piece may be a piece of a word


@dataclass(frozen=True, slots=True)
class Caught:
    """Of the shapes of a set, how many are caught, and which are not."""

    name: str
    shapes: int
    caught: int
    missed: list[str]


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    name: str
    lines: int
    changed: list[str]


@dataclass(frozen=True, slots=True)
class Speed:
    kind: str
    megabytes_per_second: float
    findings: int


@dataclass(frozen=True, slots=True)
class RedactionReport:
    caught: list[Caught]
    false_alarms: list[FalseAlarms]
    speeds: list[Speed]


def run(instances: int = 400, size: int = _SIZE, progress: Callable[[str], None] = lambda _: None) -> RedactionReport:
    """Measure all of it; a minute."""
    redactor = Redactor(bytes(32))
    caught = []
    for name, shapes in (("tuned", TUNED), ("held out", HELD_OUT), ("fresh", FRESH), ("recent", RECENT)):
        progress(f"shapes: {name}")
        missed = [shape.name for shape in shapes if share_caught(redactor, shape, instances) < ENOUGH]
        caught.append(Caught(name, len(shapes), len(shapes) - len(missed), missed))
    alarms = [
        FalseAlarms(name, len(lines), [line for line in lines if changes(redactor, line)])
        for name, lines in (("tuned", BENIGN), ("held out", HELD_OUT_BENIGN))
    ]
    speeds = []
    for kind, make in HOSTILE.items():
        progress(f"speed: {kind}")
        speeds.append(_speed(redactor, kind, make(size)))
    return RedactionReport(caught, alarms, speeds)


def render(report: RedactionReport) -> str:
    """The report as text."""
    lines = [
        f"shapes caught, {part.name}: {part.caught} of {part.shapes}{_listed(part.missed)}" for part in report.caught
    ]
    lines += [
        f"false alarms, {part.name}: {len(part.changed)} of {part.lines} benign lines{_listed(part.changed)}"
        for part in report.false_alarms
    ]
    lines.append("MB/s on one long line of")
    lines += [
        f"  {speed.kind:<32}{speed.megabytes_per_second:>9.1f}"
        + (f"  {speed.findings:,} secrets" if speed.findings else "")
        for speed in report.speeds
    ]
    return "\n".join(lines)


def share_caught(
    redactor: Redactor, shape: Shape, instances: int, written: Callable[[str], str] = lambda text: text
) -> float:
    """The part of a shape's secrets that are gone from their texts, as these are `written`."""
    caught = 0
    for number in range(instances):
        text, secret = shape.draw(random.Random(zlib.crc32(f"{shape.name}/{number}".encode())))
        caught += is_gone(redactor.redact(written(text)), secret)
    return caught / instances


def is_gone(redacted: Redacted, secret: str) -> bool:
    """Return whether the secret can no longer be read in what is left, however it was hidden; of a long one neither
    half."""
    left = redacted.text
    for finding in redacted.findings:
        left = left.replace(finding.mark, "\n")
    half = len(secret) // 2
    parts = (secret[:half], secret[-half:]) if half >= _HALF else (secret,)
    readings = (VisibleText(left).text, *(spelled for _, _, spelled in spelled_in_tags(left)))
    return not any(part in reading for part in parts for reading in readings)


def changes(redactor: Redactor, line: str, drawings: int = _BENIGN_DRAWINGS) -> bool:
    """Return whether any drawing of a benign line is changed."""
    texts = (fill(line, random.Random(number)) for number in range(drawings))
    return any(redactor.redact(text).text != text for text in texts)


def _speed(redactor: Redactor, kind: str, text: str) -> Speed:
    start = time.process_time()
    findings = len(redactor.redact(text).secrets)
    spent = time.process_time() - start
    return Speed(kind, round(len(text.encode("utf-8", "surrogatepass")) / 1e6 / max(spent, 1e-6), 2), findings)


def _listed(names: Sequence[str]) -> str:
    return f" (not: {'; '.join(names)})" if names else ""


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _drawn(alphabet: str) -> Callable[[int], str]:
    return lambda size: "".join(random.Random(7).choices(alphabet, k=size))


def _filled(pattern: str) -> Callable[[int], str]:
    """A pattern drawn again and again; a thousand drawings, in turn."""

    def make(size: int) -> str:
        draw = random.Random(7)
        block = "".join(fill(pattern, draw) for _ in range(1000))
        return _repeated(block)(size)

    return make


def _numbered(before: str) -> Callable[[int], str]:
    """A text before a secret that is different each time."""

    def make(size: int) -> str:
        letters = random.Random(7).choices(_B62, k=size)
        count = size // (len(before) + 1) + 1
        secrets = ("".join(letters[at * 6 : at * 6 + 6]) + f"{at:06x} " for at in range(count))
        return "".join(before + secret for secret in secrets)[:size]

    return make


def _every_kind(size: int) -> str:
    """Secrets of all known shapes, each in one of its texts."""
    draw = random.Random(7)
    texts: list[str] = []
    length = 0
    while length < size:
        text, _ = draw.choice(TUNED).draw(draw)
        texts.append(" ".join(text.split("\n")) + " ")
        length += len(texts[-1])
    return "".join(texts)[:size]


_B62 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

# One long line of each kind, by its number of characters.
HOSTILE: dict[str, Callable[[int], str]] = {
    "ordinary prose": _repeated("The harbor crane is blue, and we deploy version 2 of the service at 14:30. "),
    **{
        f"a run of {name}": _repeated(sign)
        for name, sign in {
            "a": "a",
            "A": "A",
            "0": "0",
            "-": "-",
            "=": "=",
            ":": ":",
            "/": "/",
            "backslashes": "\\",
            "blanks": " ",
            "quotes": '"',
            "line feeds": "\n",
            "dollars": "$",
            "brackets": "[",
            "zero-width spaces": "\u200b",
            "tag characters": "\U000e0041",
        }.items()
    },
    "Base64": _drawn(_B62 + "+/"),
    "hexadecimal": _drawn("0123456789abcdef"),
    "Base32": _drawn("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "words": _filled("<LOW:2-9> "),
    "hashes, one a line": _filled("<HEX:64>\n"),
    "hashes and names of files": _filled("<HEX:64>  src/<LOW:2-9>.py\n"),
    "Chinese": lambda size: "".join(chr(0x4E00 + place) for place in random.Random(7).choices(range(20_000), k=size)),
    "Chinese about passwords": _repeated("数据库密码是加密存储的，"),
    "letters and zero-width spaces": _repeated("a\u200b"),
    "letters and continued lines": _repeated("a\\\n"),
    "escaped JSON": _repeated('\\"a\\": \\"b\\\\n\\", '),
    "password=": _repeated("password="),
    "password=x": _repeated("password=x "),
    "password: ": _repeated("password: "),
    "password is": _repeated("password is "),
    "token": _repeated("token "),
    'secret":"': _repeated('secret":"'),
    "key =": _repeated("key = "),
    "eyJ": _repeated("eyJ"),
    "eyJ with a dot": _repeated("eyJhbGciOi."),
    "sk-": _repeated("sk-"),
    "://": _repeated("://"),
    "a://b:c": _repeated("a://b:c"),
    "-----BEGIN": _repeated("-----BEGIN RSA PRIVATE KEY-----"),
    "-----BEGIN and a key": _repeated("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n"),
    "curl -u": _repeated("curl -u "),
    "--password": _repeated(" --password "),
    "cookie": _repeated("cookie: a=b; "),
    "machine": _repeated("machine a login b "),
    "mysql -h": _repeated("mysql -h a "),
    "mnemonic and words": _repeated("mnemonic: cliff ocean zebra "),
    "aws and words": _repeated("aws secret abcdefgh "),
    "one password, over and over": _repeated("password=hunter2 "),
    "a thousand passwords, in turn": _filled("password=<B62:12> "),
    "a thousand tokens, in turn": _filled("ghp_<B62:36> "),
    "passwords, none of them twice": _numbered("password="),
    "tokens, none of them twice": _numbered(f"token=ghp_{'aB3' * 10}"),
    "private keys, none of them twice": _numbered(f"-----BEGIN RSA PRIVATE KEY----- {'MIIEowIB' * 40}"),
    "secrets of every kind, none twice": _every_kind,
}
