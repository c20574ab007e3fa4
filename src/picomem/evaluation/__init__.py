"""Measures how well recall answers a user's own questions over their own store."""
