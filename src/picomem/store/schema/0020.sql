-- The sections of the index page in their order, and how many entries each kind has, from the index alone. That takes
-- `known_to`, `source` and `origin` too, although the condition decides on them.
CREATE INDEX memories_entries ON memories (user_id, kind, pinned DESC, importance DESC, (origin <> 'user'),
    valid_from DESC, key, id, version, doc, agent, project, session, known_from, valid_to, expires_at, known_to, source,
    origin)
    WHERE known_to IS NULL AND source <> 'captured' AND origin NOT IN ('tool', 'web', 'other');
