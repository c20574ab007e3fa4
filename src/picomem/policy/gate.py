"""The write gate: decides without a model whether an offered text is worth keeping and may be kept.

`judge` is a pure function of the text, its origin and the way it was offered; each refusal has a name and a sentence.
It runs after redaction and before the comparison with known memories, so it sees placeholders instead of secrets, and
does not deal with near duplicates.

There are two groups of checks:

- What nobody may store, even on request: nothing, a document, a bare redacted secret, text that picomem itself
  returned (or it would feed on its own output), and an instruction that is not the user's (`prompt_injection`).
- What a proposer (a model, a consolidation, a hook) may not store unasked.

picomem's own output is recognised by what the runtime put there: the marks of `_MARKS`, the keys of memories
(`memory/remember.py`), and, of what this process returned lately, its words (`own_output.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import chain

from picomem.coded_text import CodedText
from picomem.light_dataclass import dataclass
from picomem.policy.pattern_tables import matches, shape, visible, words_of
from picomem.policy.prompt_injection import is_hijack, looks_like_instruction
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
from picomem.records.kinds import Kind, Origin
from picomem.text.late_pattern import late_pattern
from picomem.text.terms import terms
from picomem.text.visible_text import normalized

# Low-value text: text that nobody will need later, and that a proposer may therefore not store unasked.
#
# A text of one kind (code, a licence, a boot file) is refused as a whole. Otherwise it is judged sentence by sentence,
# and refused only if no sentence is worth keeping: "Thanks! The staging DB is on port 5433." is kept. A sentence has
# low value if it is small talk, talk about the work, a question, or about this moment or this task.
#
# The shapes refuse what is common and accept the rest, because a wrong refusal loses something for good, and a wrong
# admission can be undone.


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the gate: keep it, or the refusal; with one sentence for a person."""

    keep: bool
    refusal: Refusal | None
    reason: str

    @property
    def recorded_reason(self) -> str:
        """The sentence with the name of the refusal, as the record of changes has it."""
        return CodedText("reason.refused", why=self.reason, name=str(self.refusal))


def judge(
    content: str, *, kind: Kind, origin: Origin, explicit: bool, recalled: Collection[str] = (), around: str = ""
) -> Verdict:
    """Return whether `content`, already redacted, may become a memory of that kind.

    `explicit` says that a person or an agent asked for it by a command or a tool; then only the first ring of
    checks applies. `recalled` holds recently returned texts, to recognise them when they come back.
    `around` is the message that the content was cut from: a person pastes what others wrote, and what stands beside
    an attempt to take the reader over is part of it, however clean it looks alone.
    """
    refusal = _forbidden(content, kind, origin, recalled)
    if refusal is None and around and is_hijack(around):
        refusal = Refusal.UNTRUSTED_INSTRUCTION
    if refusal is None and not explicit:
        refusal = low_value_reason(content, kind)
    if refusal is not None:
        return Verdict(False, refusal, refusal.reason)
    return Verdict(True, None, "It was asked for." if explicit else "It states something that can matter later.")


def judge_names(names: Iterable[str], origin: Origin) -> Verdict:
    """Return whether the names that come with a text (its project, tags, related entries) may be stored with it.

    Models read them as well. One or two words of a foreign source are too short for an order: “install guide” is a tag.
    """
    for name in filter(None, names):
        foreign = not origin.trusted and len(name.split()) >= _FEWEST_WORDS
        if origin is not Origin.USER and (is_hijack(name) or (foreign and looks_like_instruction(name))):
            return Verdict(False, Refusal.UNTRUSTED_INSTRUCTION, Refusal.UNTRUSTED_INSTRUCTION.reason)
    return Verdict(True, None, "The names give no order.")


def _forbidden(content: str, kind: Kind, origin: Origin, recalled: Collection[str]) -> Refusal | None:
    if not any(c.isalnum() for c in content):
        return Refusal.EMPTY
    if len(content) > LONGEST_CONTENT:
        return Refusal.TOO_LONG
    if _is_only_secret(content):
        return Refusal.SECRET
    if _MARKS.search(content) or _is_coming_back(content, recalled):
        return Refusal.RECALLED
    return Refusal.UNTRUSTED_INSTRUCTION if _is_foreign_order(content, kind, origin) else None


def _is_foreign_order(content: str, kind: Kind, origin: Origin) -> bool:
    """An agent may word a rule as an order, since it writes the user's down; it may not pass a hijack on."""
    if origin.trusted:
        return origin is Origin.AGENT and is_hijack(content)
    return kind is Kind.INSTRUCTION or looks_like_instruction(content)


_FEWEST_WORDS = 3  # of a name that can be an order


def _is_only_secret(content: str) -> bool:
    """A secret was taken out, and what remains is fewer than three words that are not labels."""
    rest, count = re.subn(r"\[redacted:[^\]\s]{1,80}\]", " ", content)
    if not count:
        return False
    labels = shape("LABELS")
    words = [word for word in re.findall(r"[a-z0-9]{4,}", rest.casefold()) if not re.fullmatch(labels, word)]
    ideographs = len(re.findall(r"[\u3400-\u9fff]", re.sub(labels, "", rest)))
    return len(words) + ideographs // 2 < 3


# What the runtime puts around and into what it hands out of memory: the head of its page, the tags of its blocks (and
# of other memories'), the fence, links, citations.
_MARKS = late_pattern(
    r"(?im)^# memory index$|"
    r"</?(?:picomem|relevant-memories|hindsight_memories|claude-mem-context|recalled|memory-context)\b|"
    r"<untrusted-text origin=|\bpicomem:/{0,2}(?:memory|episode|session|transcript)/|"
    r"\(session [\w-]{6,64}, messages? \d|\bmemory_recall\((?:query|category)=|\bepisode [0-9a-f-]{8,36} \["
)
_LINE = late_pattern(
    r"(?m)^[ \t]*(?:[-*•]|\d{1,4}\.)?[ \t]*([a-z]\w{0,63})\b(?:[ \t]?[(\[][^\n()\[\]]{1,270}[)\]])*[ \t]*: (\S[^\n]*)$"
)
_LISTED = late_pattern(r"(?m)^[ \t]*[-*•][ \t]+(?:\d{4}-\d\d-\d\d\b[ \t]*)?(?:\([^()\n]{1,270}\))?:?[ \t]*(\S[^\n]*)$")


def lines_with_keys(content: str) -> dict[str, str]:
    """What stands behind each word that begins a line and may be a key, as answers print memory."""
    return dict(_LINE.findall(content))


def listed_statements(content: str) -> list[str]:
    """What stands in a list, behind a date or a project, as the index page prints memory."""
    return [said for line in _LISTED.findall(content) for said in line.split("; before: ")]


def retells(content: str, said: str) -> bool:
    """Return whether a text says no more than what was said, in its words."""
    return _is_coming_back(content, (said,))


def _is_coming_back(content: str, recalled: Collection[str]) -> bool:
    """The same words as something recalled, a long part of it, hardly more than it, or it in fewer words."""
    said = _canonical(content) if recalled else ""
    for known in map(_canonical, recalled):
        if known and (said == known or (len(said) >= 24 and f" {said} " in f" {known} ")):
            return True
        if len(known) >= 24 and f" {known} " in f" {said} " and len(known) >= 0.8 * len(said):
            return True
    return bool(recalled) and _is_retold(content, recalled)


_FEWEST_TERMS = 3  # a sentence of fewer says too little to be known again
_NEGATION = r"(?i)\b(not|no|never|without|cannot)\b|n't\b|[不没別别勿]"


def _is_retold(content: str, recalled: Collection[str]) -> bool:
    """Each sentence says no more than one that was recalled: its terms, in their order, and as often negated."""
    said = [sentence for sentence in _told(content) if sentence[0]]
    known: dict[str, list[tuple[list[str], int]]] = {}  # the sentences that hold a term
    for sentence in chain.from_iterable(map(_told, recalled)) if said else ():
        for term in dict.fromkeys(sentence[0]):
            known.setdefault(term, []).append(sentence)
    return bool(said) and all(
        any(
            negations == others and _in_order(wanted, of)
            for of, others in min((known.get(term, []) for term in wanted), key=len)
        )
        for wanted, negations in said
    )


def _told(text: str) -> list[tuple[list[str], int]]:
    """Each sentence's terms, and how often it negates."""
    sentences = filter(str.strip, dict.fromkeys(re.split(r"(?<=[.!?])\s+|[\n。！？]", visible(text))))
    return [(terms(sentence), len(re.findall(_NEGATION, sentence))) for sentence in sentences]


def _in_order(wanted: list[str], of: list[str]) -> bool:
    rest = iter(of)
    return len(wanted) >= _FEWEST_TERMS and all(term in rest for term in wanted)


def _canonical(text: str) -> str:
    """Words alone: no case, punctuation, list marks, keys of index lines or invisible characters."""
    text = re.sub(r"(?m)^[ \t]*[-*•] (?:[a-z][a-z0-9_]{0,63}(?: \([^()\n]{1,270}\))?: )?", "", visible(text))
    return " ".join(re.findall(r"\w+", normalized("NFKC", text).casefold()))
