"""Question sets, for the benchmarks that ask them."""

from tests.small_question_set import haystack, write_set

__all__ = ["haystack", "write_set"]
