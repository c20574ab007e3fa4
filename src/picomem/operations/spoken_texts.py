"""Whose words a statement is made of: the person's, or those of a text that an agent read. Pure."""

from __future__ import annotations

from picomem.light_dataclass import dataclass
from picomem.provenance.statements import Grounds, content_words
from picomem.records.kinds import Origin, worst
from picomem.text.terms import terms


@dataclass(frozen=True, slots=True)
class SpokenTexts:
    """The texts in a context by speaker: those whose words may be kept, and the terms of each text of others."""

    own: tuple[Grounds, ...]
    others: tuple[tuple[Origin, frozenset[str]], ...]

    def origin_of(self, text: str, known: str = "") -> Origin:
        """Return the origin of a statement. Words of the trusted memory that it revises (`known`) need no speaker."""
        origin = self.origin_of_words(text, known)
        if not self.others or not origin.trusted or any(grounds.hold(text, known) for grounds in self.own):
            return origin
        return worst((Origin.AGENT, *(origin for origin, _ in self.others)))

    def origin_of_words(self, text: str, known: str = "") -> Origin:
        """The least trusted of those who said a word of it that neither the user nor the agent did."""
        own = frozenset(term for grounds in self.own for term in grounds.terms)
        news = content_words(text) - own - frozenset(terms(known))
        return worst((Origin.AGENT, *(origin for origin, said in self.others if news & said)))
