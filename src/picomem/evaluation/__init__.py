"""Measures how well recall answers questions: on question sets, and on a user's own questions over their own store."""
