"""Question sets, for the tests of what asks them."""

from tests.question_sets import haystack, write_set

__all__ = ["haystack", "write_set"]
