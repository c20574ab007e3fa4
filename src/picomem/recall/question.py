"""A question, taken apart: the terms to look for, and the time that it names. Pure."""

from __future__ import annotations

from datetime import tzinfo

from picomem.clock import Micros
from picomem.light_dataclass import dataclass
from picomem.recall.speaker import is_of_asker, is_telling, may_be_of_agent
from picomem.text.storable import plain
from picomem.text.temporal.parsing import TimeReading, read_time
from picomem.text.temporal.session_references import SessionReading, read_sessions
from picomem.text.terms import is_cjk, terms_of_word, worded_terms, words_in

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
