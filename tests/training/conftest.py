"""Question sets, for the tests of what is fitted to them."""

from tests.small_question_set import write_set

__all__ = ["write_set"]
