"""The version of picomem, for whoever may not import the root."""

__version__ = "0.1.0"
