"""Measures recall on sets of questions, for the benchmarks and the training. Not part of the package."""
