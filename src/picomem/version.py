"""The version of picomem, for modules that may not import the root."""

__version__ = "0.1.0"
