-- Which stretches of an episode's preview seem worth remembering: a line each of start, end (characters) and the estimate in
-- thousandths (memory/suggestions.py); empty where there are none, NULL where it was last read before this was known.
ALTER TABLE episodes ADD COLUMN suggested TEXT;
CREATE INDEX episodes_suggested ON episodes (user_id, started_at DESC, id, transcript_id)
    WHERE suggested IS NOT NULL AND suggested <> '';
-- Nothing is a candidate any more: what was said in passing is no memory.
DROP INDEX memories_undecided;
CREATE INDEX memories_undecided ON memories (user_id, known_from DESC, id)
    WHERE known_to IS NULL AND (origin IN ('tool', 'web', 'other') OR related <> '[]');
DROP INDEX memories_entries;
CREATE INDEX memories_entries ON memories (user_id, kind, pinned DESC, importance DESC, (origin <> 'user'),
    valid_from DESC, key, id, version, doc, agent, project, session, known_from, valid_to, expires_at, known_to, origin)
    WHERE known_to IS NULL AND origin NOT IN ('tool', 'web', 'other');
