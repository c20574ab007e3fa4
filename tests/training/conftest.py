"""Question sets, for the tests of what is fitted to them."""

from tests.question_sets import write_set

__all__ = ["write_set"]
