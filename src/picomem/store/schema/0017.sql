-- The list of memories, the most important first: a page of it is read from its place on, however many there are, and
-- those behind it are counted from the index alone.
CREATE INDEX memories_listed ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version,
    kind, origin, agent, project, session, valid_from, valid_to, expires_at) WHERE known_to IS NULL;
