"""`python -m picomem …` is `picomem …`."""

from __future__ import annotations

from picomem.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
