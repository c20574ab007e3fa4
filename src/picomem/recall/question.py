"""A question, taken apart: the terms to look for, and the time that it names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import tzinfo

from picomem.clock import Micros
from picomem.light_dataclass import dataclass
from picomem.text.storable import plain
from picomem.text.temporal.parsing import TimeReading, read_time
from picomem.text.temporal.session_references import SessionReading, read_sessions
from picomem.text.terms import is_cjk, terms, terms_of_word, worded_terms, words_in

# Whose words a question asks for, and whether it asks at all. Pure.
#
# Who says “I” asks about themselves, and what is known of them is mostly what they said: an agent's answers repeat it
# at length and would come first. Who asks what the agent said, or what “we” decided, may mean either side. Who names a
# speaker asks for what that one said; others mostly say the name to call them.

_ASKER = r"(?i)\b(?:i|my|me|mine|myself)\b|我(?!们)"
_SAYING = (
    r"(?:said|say|told|tell|mention|recommend|suggest|provid|g[ai]ve|list|describ|explain|advi[sc]|wrote|shar|nam|creat"
    r"|generat|call|propos|answer|show|point|refer|sent|help|use|made|came|tr(?:y|ied)|discuss|talk)"
)
# “what you recommended”, “did you”, “remind me”: the agent's part is asked for, or may be.
_AGENT = (
    rf"(?i)\byou(?:'ve|'d|\s+have|\s+had)?\s+(?:\w+\s+){{0,2}}?{_SAYING}|\bdid\s+you\b|\bremind\s+me\b"
    r"|\byour\s+(?:\w+\s+)?(?:answer|advice|suggestion|recommendation|explanation|list|respons|repl)"
    r"|你(?:说|推荐|建议|提到|告诉|给)"
)
_SENTENCE = r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+"
_ROLES = frozenset(("user", "assistant", "agent"))  # what a host calls the two sides; names are called otherwise


def is_of_asker(text: str) -> bool:
    """Return whether a question is about the one who asks it, and not about what they were told."""
    return bool(re.search(_ASKER, text)) and not may_be_of_agent(text)


def may_be_of_agent(text: str) -> bool:
    """Return whether a question may ask for what the agent said or did."""
    return bool(re.search(_AGENT, text))


def is_telling(text: str) -> bool:
    """Return whether most of the sentences are statements: the next turn of work that goes on, not a question about
    something past. A sentence without a mark at its end is a search, or a question in a hurry, and no statement."""
    sentences = [sentence for part in re.split(_SENTENCE, text) if (sentence := part.strip(" \t\"'”’)*`"))]
    told = sum(sentence.endswith((".", "!", "。", "！")) for sentence in sentences)
    return len(sentences) < 2 * told


def meant(roles: Iterable[str], of_asker: bool, asked: Iterable[str]) -> frozenset[str]:
    """The speakers whose words a question with the terms `asked` asks for."""
    known = frozenset(asked)
    return frozenset(role for role in roles if (of_asker and role == "user") or _is_named(role, known))


def names(roles: Iterable[str]) -> frozenset[str]:
    """The terms of those of the speakers' names that are names, and not what a host calls a side."""
    return frozenset(term for role in roles if role not in _ROLES for term in terms(role))


def speakers_by_transcript(spoken: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Who speaks in each transcript; `spoken` are transcripts, each with one who speaks in it."""
    speakers: dict[str, set[str]] = {}
    for transcript, role in set(spoken):
        speakers.setdefault(transcript, set()).add(role)
    return speakers


def called_only(speakers: Mapping[str, AbstractSet[str]], asked: Iterable[str]) -> frozenset[str]:
    """The terms of a question that name a speaker where two talk: whoever is named there speaks or is spoken to, so the
    name as a word only finds turns that call somebody. In a group people also speak of each other, and names tell.

    `speakers` are those of each transcript. A question of nothing but names keeps them.
    """
    known = frozenset(asked)
    named = names(role for role in set().union(*speakers.values()) if _is_named(role, known)) & known
    is_group = any(len(roles) > 2 for roles in speakers.values())
    return frozenset() if is_group or named == known else named


def groups(speakers: Mapping[str, AbstractSet[str]]) -> frozenset[str]:
    """The transcripts in which more than two speak: talks of a group, and logs with records of many kinds."""
    return frozenset(transcript for transcript, roles in speakers.items() if len(roles) > 2)


def _is_named(role: str, asked: frozenset[str]) -> bool:
    name = frozenset() if role in _ROLES else frozenset(terms(role))
    return bool(name) and name <= asked


LONGEST = 8_000  # characters of a question that are looked at
MOST_TERMS = 48


@dataclass(frozen=True, slots=True)
class Question:
    """`words` are the terms to look for, in order, each with the word of the question that it comes from; `single` are
    CJK characters that stand alone and are looked for by prefix."""

    text: str
    about: str  # the text without the words of a time that is used as such
    words: dict[str, str]
    single: frozenset[str]
    time: TimeReading
    sessions: SessionReading | None = None  # sessions that are asked for by their place, where no time is
    of_asker: bool = False  # what the asker said is asked for
    of_agent: bool = False  # … or perhaps what the agent said
    telling: bool = False  # it goes on with something, rather than asking about it

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(self.words)

    @property
    def written_words(self) -> dict[str, str]:
        """`words` as they stand in the question, for people: with their accents."""
        if self.about.isascii():
            return self.words
        words = reversed([word[0] for word in words_in(self.about)])  # the first one that gives a term stands
        as_written = {term: word for word in words for term in terms_of_word(word)}
        return {term: word if is_cjk(word) else as_written.get(term, word) for term, word in self.words.items()}


def statement(text: str) -> Question:
    """A statement, to look for others that share its words: it asks for no time."""
    return Question(text, text, worded_terms(text, MOST_TERMS), frozenset(), TimeReading(None, "", "", False))


def parse(text: str, asked_at: Micros, zone: tzinfo) -> Question:
    """Take a question apart. Anything is a question; nothing raises."""
    text = plain(text[:LONGEST])
    time = read_time(text, asked_at, zone)
    # The words of a date say when, not what: the text itself seldom repeats them.
    about = text.replace(time.phrase, " ", 1) if time.window and time.certain and time.phrase else text
    sessions = None if time.window and time.certain else read_sessions(text)
    if sessions and sessions.certain:
        about = about.replace(sessions.phrase, " ", 1)
    words = worded_terms(about, MOST_TERMS)
    telling = is_telling(text)
    return Question(
        text=text,
        about=about,
        words=words,
        single=frozenset(term for term in words if len(term) == 1 and is_cjk(term)),
        time=time,
        sessions=sessions,
        of_asker=not telling and is_of_asker(text),
        of_agent=not telling and may_be_of_agent(text),
        telling=telling,
    )
