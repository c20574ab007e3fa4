"""Question sets, for the benchmarks that ask them."""

from tests.question_sets import haystack, write_set

__all__ = ["haystack", "write_set"]
