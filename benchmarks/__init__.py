"""The benchmarks of picomem: `python -m benchmarks --help`. They are not part of the package."""
