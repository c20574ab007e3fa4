"""What agents' hosts (Claude Code, Codex) run at the events of a session: `picomem-hook`."""
