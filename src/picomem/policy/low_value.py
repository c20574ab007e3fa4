"""Low-value text: text that nobody will need later, and that a proposer may therefore not store unasked.

A text of one kind (code, a licence, a boot file) is refused as a whole. Otherwise it is judged sentence by sentence,
and refused only if no sentence is worth keeping: "Thanks! The staging DB is on port 5433." is kept. A sentence has
low value if it is small talk, talk about the work, a question, or about this moment or this task.

The shapes refuse what is common and accept the rest, because a wrong refusal loses something for good, and a wrong
admission can be undone.
"""

from __future__ import annotations

import re

from picomem.policy.pattern_tables import matches, shape, visible, words_of
from picomem.policy.refusal import Refusal
from picomem.records.kinds import Kind
from picomem.text.late_pattern import late_pattern


def low_value_reason(content: str, kind: Kind) -> Refusal | None:
    """Return the reason why a text that was offered unasked is not worth keeping as a memory of that kind, if any."""
    text = visible(content).strip()
    return _whole(text) or _by_sentence(text, kind)


# -------------------------------------------------------------------------------------- one thing as a whole

# Signs that prose hardly uses; a line with this share of them is a machine's.
_SIGNS = late_pattern(r"[{}()\[\];=<>$\\|&*@#+~^%]")
_IN_BACKTICKS = late_pattern(r"`[^`]*`")
_SIGN_SHARE = 0.12
_FEWEST_SIGNS = 4
_DATA = late_pattern(r"(?s)\A\s*(\{.{0,200}[\"'\w] ?:.*\}|\[\s*[\[{\"'\d].*\])\s*\Z")


def _whole(text: str) -> Refusal | None:
    if matches("boot_file", text):
        return Refusal.BOOT_FILE
    if matches("boilerplate", text):
        return Refusal.BOILERPLATE
    return Refusal.CODE if _is_code(text) else None


def _is_code(text: str) -> bool:
    """Data, or lines of which most are a machine's, those within a code fence included."""
    if _DATA.match(text):
        return True
    lines, fenced, machine = 0, False, 0
    for line in filter(str.strip, text.splitlines()):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        lines += 1
        machine += fence or fenced or _is_machine_line(line.rstrip()[:400])
    return machine >= 0.6 * lines


def _is_machine_line(line: str) -> bool:
    signs = len(_SIGNS.findall(_IN_BACKTICKS.sub("", line)))
    dense = signs >= _FEWEST_SIGNS and signs >= _SIGN_SHARE * len(line)
    return dense or matches("code_line", line, flags=0)


# -------------------------------------------------------------------------------------- sentence by sentence

_BETWEEN_SENTENCES = late_pattern(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = late_pattern(r"[a-z']+|[^\W\d_a-z]|\d")
_IDEOGRAPH = late_pattern(r"[\u3400-\u9fff]")


def _by_sentence(text: str, kind: Kind) -> Refusal | None:
    """The first sentence's refusal when each has one; a text of one short word is too short."""
    parts = filter(str.strip, _BETWEEN_SENTENCES.split(text))
    refusals = [_sentence(part.strip(" \t-*•"), kind) for part in parts]
    if None not in refusals:
        return refusals[0]
    is_short = len(text.split()) < 2 and len(_IDEOGRAPH.findall(text)) < 3
    return Refusal.TOO_SHORT if is_short else None


def _sentence(part: str, kind: Kind) -> Refusal | None:
    words = _WORD.findall(part.casefold())
    lead_in = re.match(shape("LEAD_IN"), part, re.IGNORECASE)
    rest = part[lead_in.end() :] if lead_in else part
    if len(words) <= 8 and words_of("SMALL_TALK").issuperset(words):
        return Refusal.CHATTER
    if matches("chatter", part) or (lead_in and matches("chatter", rest)):
        return Refusal.CHATTER
    if matches("question", rest):
        return Refusal.QUESTION
    if matches("transient", rest) or (matches("task", rest) and _is_for_now(rest, kind)):
        return Refusal.TRANSIENT
    return None


def _is_for_now(order: str, kind: Kind) -> bool:
    """Return whether an order is a task: no word makes it last, and of a rule's kind it must point at the task."""
    if re.search(shape("DURABLE"), order, re.IGNORECASE):
        return False
    return (
        kind not in (Kind.INSTRUCTION, Kind.PREFERENCE)
        or re.search(shape("THIS_TASK"), order, re.IGNORECASE) is not None
    )
