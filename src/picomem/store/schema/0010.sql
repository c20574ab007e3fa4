-- What was told by wording until now has columns of its own; the rows that are there are moved in
-- store/file_columns_migration.py.

-- The path of a file that an agent keeps as a whole (memory/files.py); NULL for every other memory.
ALTER TABLE memories ADD COLUMN path TEXT;
CREATE INDEX memories_path ON memories (user_id, agent, project, session, path)
    WHERE known_to IS NULL AND valid_to IS NULL AND path IS NOT NULL;

-- The caller's name for a request that is to be done once, and a hash of what it asked for; NULL where it gave none.
ALTER TABLE changes ADD COLUMN idempotency_key TEXT;
ALTER TABLE changes ADD COLUMN request_hash TEXT;
CREATE INDEX changes_idempotency_key ON changes (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
