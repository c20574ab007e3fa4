-- The list of memories is filtered by tag, and the index page leaves candidates out, from the index alone as well. That
-- takes `known_to` too, although it is always null there.
DROP INDEX memories_listed;
CREATE INDEX memories_listed ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version,
    doc, kind, origin, source, tags, agent, project, session, valid_from, valid_to, expires_at, known_to)
    WHERE known_to IS NULL;
-- A page of the archived memories, and how many there are.
CREATE INDEX memories_archived ON memories (user_id, pinned DESC, importance DESC, known_from DESC, key, id, version)
    WHERE known_to IS NOT NULL;
-- What may wait for a person's decision: a small part of all memories.
CREATE INDEX memories_undecided ON memories (user_id, known_from DESC, id)
    WHERE known_to IS NULL AND (source = 'captured' OR origin IN ('tool', 'web', 'other') OR related <> '[]');
-- The names of all projects and agents.
CREATE INDEX memories_owner ON memories (user_id, project, agent);
