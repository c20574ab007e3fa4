r"""One rule of redaction, and the two ways to make one from a token's shape.

A pattern is in the syntax that RE2 and Python's `re` share (no look-around, no back-reference). The group
`secret` (or `value`, or one for each way to quote it) is what gets replaced. Fast and safe by this:

- `gates` are literals, one of which stands in (or beside) every match; a text without them is never scanned.
  They are lower-case and compared without regard to case. A rule without gates is for a secret of `LONG_RUN` characters
  without a break, and is run where such a run stands.
- A pattern starts at a literal and then repeats one character class, or a bounded number of characters, so
  that a failed match costs a bounded look, not a search: `re` is not linear by itself.
- What a pattern cannot say (is this value code, a placeholder, a word?) is left to a named check in
  `secret_checks`.
"""

from __future__ import annotations

from picomem.light_dataclass import dataclass

LONG_RUN = 51  # of letters, digits, `_`, `-` and `.`; few words are that long


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    `check` names a function in `secret_checks` that may still say no; `within` is a pattern that marks the
    only regions in which `pattern` counts.
    """

    id: str
    gates: tuple[str, ...]
    pattern: str
    check: str = ""
    within: str = ""


# Before a token: a word boundary, an escape as it stands in JSON (`\n`), or a percent-escape.
START = r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{2})"


def literals(text: str) -> tuple[str, ...]:
    """The gates that spaces separate in `text`."""
    return tuple(text.split())


def token(kind: str, gates: str, shape: str, check: str = "varied") -> Rule:
    """A token that its own shape gives away; spaces separate the gates."""
    return Rule(kind, literals(gates), f"{START}(?P<secret>{shape})", check)


def lone(kind: str, gates: str, shape: str, check: str = "mixed") -> Rule:
    """A token whose prefix is so short that Base64 may hold it: it must not follow a sign of that."""
    return Rule(kind, literals(gates), rf"(?:^|[^\w/+.-]|\\[nrt])(?P<secret>{shape})", check)
