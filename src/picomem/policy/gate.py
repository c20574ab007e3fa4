"""The write gate: decides without a model whether an offered text is worth keeping and may be kept.

`judge` is a pure function of the text, its origin and the way it was offered; each refusal has a name and a sentence.
It runs after redaction and before the comparison with known memories, so it sees placeholders instead of secrets, and
does not deal with near duplicates.

There are two groups of checks:

- What nobody may store, even on request: nothing, a document, a bare redacted secret, text that picomem itself
  returned (or it would feed on its own output), and an instruction that is not the user's (`prompt_injection`).
- What a proposer (a model, a consolidation, a hook) may not store unasked (`low_value`).

picomem's own output is recognised by the shapes of `_PRINTED`, which follow the index page (`memory/index_page.py`),
the replies of the operations (`operations/`) and the texts of the command line (`cli/text.py`); a test compares them
with real ones. Text that was returned recently is recognised by its words as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import chain

from picomem.light_dataclass import dataclass
from picomem.policy.low_value import low_value_reason
from picomem.policy.pattern_tables import any_of, matches, table, visible
from picomem.policy.prompt_injection import is_hijack, looks_like_instruction
from picomem.policy.refusal import LONGEST_CONTENT, Refusal
from picomem.records.kinds import Kind, Origin
from picomem.text.terms import terms


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the gate: keep it, or the refusal; with one sentence for a person."""

    keep: bool
    refusal: Refusal | None
    reason: str


def judge(
    content: str,
    *,
    kind: Kind,
    origin: Origin,
    explicit: bool,
    recalled: Collection[str] = (),
    around: str = "",
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
    if matches(_PRINTED, content) or _is_coming_back(content, recalled):
        return Refusal.RECALLED
    if origin is not Origin.USER and matches(_DECLARED, content):
        return Refusal.RECALLED
    return Refusal.UNTRUSTED_INSTRUCTION if _is_foreign_order(content, kind, origin) else None


def _is_foreign_order(content: str, kind: Kind, origin: Origin) -> bool:
    """An agent may word a rule as an order, since it writes the user's down; it may not pass a hijack on."""
    if origin.trusted:
        return origin is Origin.AGENT and is_hijack(content)
    return kind is Kind.INSTRUCTION or looks_like_instruction(content)


_FEWEST_WORDS = 3  # of a name that can be an order
_LABELS = any_of(
    """that this with here have your their username user login account password passwords passphrase
    passcode secret secrets token tokens credential credentials value private access bearer
    authorization cookie session code basic connection string remember please 密码 口令 密钥 令牌 账号
    账户 用户名 验证码 记住 我 你 的 是 为 在 和 请"""
)


def _is_only_secret(content: str) -> bool:
    """A secret was taken out, and what remains is fewer than three words that are not labels."""
    rest, count = re.subn(r"\[redacted:[^\]\s]{1,80}\]", " ", content)
    if not count:
        return False
    words = [word for word in re.findall(r"[a-z0-9]{4,}", rest.casefold()) if not re.fullmatch(_LABELS, word)]
    ideographs = len(re.findall(r"[\u3400-\u9fff]", re.sub(_LABELS, "", rest)))
    return len(words) + ideographs // 2 < 3


# The index page is lines of `- key: content`, with a note of project and date for some. One such line alone must
# have a key that prose does not have, or stand under a heading of the page.
_KEY = r"[a-z][a-z0-9_]{0,63}"
_NOTE = r"( \([^()\n]{1,270}\))?"
_INDEX_LINE = rf"\s*[-*] {_KEY}{_NOTE}: [^\n]+"
_DAY = r"\d{4}-\d\d-\d\d"
_KINDS = "|".join(Kind)
_PRINTED = table(
    rf"""
    ^#{{1,4}} (memory (index|context)|long-term memory|recent history|记忆上下文|记忆)\s*$
    ^## (how to work here|what holds|last time|heard in passing, unconfirmed|where more is)\n- [^\n]
    ^nothing is remembered of this project yet: memory_store\b|\bmemory_recall\(query=…\) searches them\b|
        ^\(\d+ more entr(y is|ies are) not shown here\b
    </?(picomem|relevant-memories|hindsight_memories|claude-mem-context|recalled|memory-context)\b|
        <untrusted-text origin=
    ^[ \t]*found \d+ memor(y|ies)\b|^[ \t]*no matching memories found|
        ^memory (stored|revised|deleted): \w{{1,64}}( \(|$)
    ^[ \t]*[-*] \w{{1,64}} \[\w+\] \[importance:\s|^[ \t]*[-*] episode [0-9a-f-]{{8,36}} \[\w+; [^\n]{{1,120}}?\]:
    ^[ \t]*[-*] .{{0,80}}\(\d+[^)\n]{{0,20}}\).{{0,20}}\b(memory_recall|picomem recall)\b
    \bpicomem:/{{0,2}}(memory|episode|session|transcript)/|\[(mem|memory|episode):[\w./-]{{1,80}}\]
    \(session [\w-]{{6,64}}, messages? \d|\w (?=\D{{0,7}}\d)[\w-]{{8}} turns? \d{{1,9}}(–\d{{1,9}})?, {_DAY}\b
    ^(\d{{1,4}}\. )?\w{{1,64}}  \((version \d|archived\)|({_KINDS})[, ])|^ {{3}}[01]\.\d\d · .{{1,300}} · [\w-]{{1,64}}$
    ^confidence [01]\.\d\d · |^ {{3}}believed {_DAY} \d\d:\d\d – |\(true {_DAY}T\S{{1,24}} – \S{{1,32}}, believed {_DAY}
    ^{_DAY} \d\d:\d\d  (\w+( → \w+)?\b.{{0,40}}  by |\w+  \([0-9a-f-]{{36}}\)$)
    \A\s*[-*] [a-z][a-z0-9]{{0,63}}_[a-z0-9_]{{1,63}}{_NOTE}: [^\n]+(\n{_INDEX_LINE})*\s*\Z
    \A{_INDEX_LINE}(\n{_INDEX_LINE}){{2,}}\s*\Z
    """
)


# What says of itself that it was recalled. A person may say so of their own head; an agent has no other memory.
_DECLARED = table(
    r"""
    \A\W{0,4}(as |what )?i (recall|remember)(ed)?\b
    \A\W{0,4}(from|in|per|according to) (my |our |the |your )?((long-term|stored|persistent) )?memor(y|ies)\b
    \A\W{0,4}(recalled|retrieved|remembered) (from|in)\b
    \A\W{0,4}(根据|按照|从)(我的?|你的?)?记忆
    """
)


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
    text = re.sub(rf"(?m)^[ \t]*[-*•] (?:{_KEY}{_NOTE}: )?", "", visible(text))
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
