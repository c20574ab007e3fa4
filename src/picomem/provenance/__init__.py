"""Who put a text where it stands: known by the door it came through and by its structure, not by its wording.

A rule here may look at the tags and the fixed marks of hosts, at the shape and the size of a block, and at what is
repeated word for word. It may not know a language. The one exception is `requests`, which finds what a person asks
outright to be remembered or forgotten; its words are data, one file a language.

In doubt a text is what the transcript is: searchable, quoted with its speaker, and no memory.
"""
