"""All rules of redaction, in the order in which `secret_scanners` runs them.

An id goes into the placeholder, so it is part of what is stored: do not rename one lightly.
"""

from __future__ import annotations

from picomem.policy.named_secrets import NAMED_SECRETS
from picomem.policy.secret_commands import SECRET_COMMANDS
from picomem.policy.secret_contexts import SECRET_CONTEXTS
from picomem.policy.secret_formats import SECRET_FORMATS
from picomem.policy.secret_rule import Rule
from picomem.policy.vendor_tokens import VENDOR_TOKENS

# The most telling kind first: where two rules find the same place, its name is used.
RULES: tuple[Rule, ...] = (*VENDOR_TOKENS, *SECRET_FORMATS, *NAMED_SECRETS, *SECRET_CONTEXTS, *SECRET_COMMANDS)
