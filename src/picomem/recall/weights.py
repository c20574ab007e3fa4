"""What each part of ranking weighs, and why.

A weight of 0 switches its part off: so `python -m benchmarks ablation` measures what a part is worth.

The weights were chosen together, on eight public sets at a time (benchmarks/README.md): a middle that serves them all,
and the best for none of them. Around that middle the sets' mean changes by a thousandth for a change of a quarter.
"""

from __future__ import annotations

from picomem.light_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The parts, in the order in which they come to bear."""

    # A term weighs what its rarity among the user's texts says, times how much its word says in the language, to this
    # power (static_embedder.py): who asks in passing words (“pretty sure somebody mentioned”) asks for what is left of
    # them. Of two words, one of which says sixteen times as much, it weighs twice as much.
    language: float = 0.25
    # A synonym of a word of the question, and a word near in meaning to it, beside that word itself.
    synonyms: float = 0.45
    near_words: float = 0.55
    # A near spelling of a word that nobody wrote, beside the word itself.
    spelling: float = 0.6
    # A turn of rank.SHORT tokens takes half of this from what its neighbours have, a longer one less.
    context: float = 1.0
    # What the whole transcript has, beside what the turn has.
    session: float = 0.3
    # Mean vectors of a static model say less than words do, and little about a short turn; where words leave everything
    # open, nearness in meaning counts so much.
    meaning: float = 0.7
    # A sentence model's nearest weighs as much as the best by words where words leave most open, and not nothing where
    # they leave nothing: so much is added to what they leave open. A weight that is always 1 finds one note more of
    # 120, and less of the talks and of LongMemEval; from 0.2 to 0.5 here any value does about the same.
    sentences: float = 1.0
    regardless: float = 0.3
    # Being inside a time that the question certainly asks for is worth a perfect match of words; inside one that it
    # perhaps asks for (“since the release”, “this week”), a part of that.
    time: float = 1.0
    perhaps: float = 0.3
    # An agent answers a sentence with a page, which has its words and more. What its asker said of themselves goes
    # before such a page unless the page fits almost twice as well. From 0.6 to 1 any value does about the same.
    own: float = 0.8
    # Telling later of an event that happened in the time asked for is worth as much as having been said in it. (On top
    # of that, LoCoMo finds .003 more and a log, in which a few records out of many date an event, .09 less.)
    events: float = 1.0
    # Where no time is asked for, a short turn that certainly states what is asked for goes before what fits up to twice
    # as well, less the more turns do: “staging is at …” before “test it on staging”. With 2 the stories find .04 more,
    # and long talks (BEAM) .01 less.
    stated: float = 1.0
    # The next turn of something that goes on is about what was talked of lately more often than not. It is worth a
    # fifth of a perfect match, half of that after a month. Of questions about something past it would be wrong
    # (measured: a question is as often about last year as about last week).
    recent: float = 0.2


WEIGHTS = Weights()
