"""What picomem is measured with: `python -m benchmarks --help`. No part of the package."""
