-- Names that people write: without this index each of them reads every memory.
CREATE INDEX memories_named ON memories (user_id, key, id, version);
