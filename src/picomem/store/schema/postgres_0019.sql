-- The tokens of a user's last writes (postgres_commit.py).
ALTER TABLE user_locks ADD COLUMN writes bigint[] NOT NULL DEFAULT '{}';
