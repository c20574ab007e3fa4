"""Question sets, for the tests of what asks them."""

from tests.small_question_set import haystack, write_set

__all__ = ["haystack", "write_set"]
