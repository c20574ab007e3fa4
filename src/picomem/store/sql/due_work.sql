-- Which users have background work to do: one statement for all users from :first to :last, so that nobody asks for each
-- of them. A user is left out while their job rests until a time that is still to come (one that is further away than
-- any rest was written before the clock was set back), and while a process has the lease on it.

-- part: may_begin
u.user_id >= :first AND u.user_id <= :last
  AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.user_id = u.user_id AND j.name = :job AND j.next_run_at > :now AND j.next_run_at <= :longest_rest)
  AND NOT EXISTS (
    SELECT 1 FROM leases AS h
    WHERE h.user_id = u.user_id AND h.name = :lease AND h.expires_at > :now AND h.expires_at <= :longest_lease)

-- everyone: due_to_consolidate
SELECT DISTINCT u.user_id FROM sessions AS u
WHERE {may_begin}
  AND u.last_consolidated_seq < (
    SELECT max(m.seq) FROM messages AS m WHERE m.user_id = u.user_id AND m.session_id = u.id)
  AND (u.last_active_at <= :idle_before
       OR (SELECT count(*) FROM messages AS m
           WHERE m.user_id = u.user_id AND m.session_id = u.id AND m.seq > u.last_consolidated_seq AND m.role = 'user')
          >= :turns
       OR (SELECT sum(m.tokens) FROM messages AS m
           WHERE m.user_id = u.user_id AND m.session_id = u.id AND m.seq > u.last_consolidated_seq) > :tokens)
ORDER BY u.user_id

-- everyone: due_to_consolidate_transcripts
SELECT DISTINCT u.user_id FROM transcripts AS u
WHERE {may_begin}
  AND u.send_policy <> 'deny' AND u.parent_session = '' AND u.path NOT LIKE 'picomem:session/%'
  AND coalesce(u.ended_at, 0) <= :idle_before
  AND EXISTS (
    SELECT 1 FROM episodes AS e
    LEFT JOIN transcript_consolidations AS r ON r.user_id = e.user_id AND r.transcript_id = e.transcript_id
      AND r.change_id = (
        SELECT max(o.change_id) FROM transcript_consolidations AS o
        WHERE o.user_id = e.user_id AND o.transcript_id = e.transcript_id)
    WHERE e.user_id = u.user_id AND e.transcript_id = u.id AND e.category = 'transcript' AND e.preview <> ''
      AND (r.run IS NULL
           OR (r.generation = u.generation AND e.last_turn >= r.last_turn)
           OR (r.generation <> u.generation AND e.created_at > r.at)))
ORDER BY u.user_id

-- everyone: due_to_retain
SELECT DISTINCT u.user_id FROM (
    SELECT m.user_id FROM memories AS m WHERE m.known_to IS NULL AND m.valid_to IS NULL AND m.expires_at <= :now
    UNION SELECT e.user_id FROM episodes AS e WHERE e.category = 'timeline' AND e.created_at < :timeline_before
    UNION SELECT s.user_id FROM sessions AS s WHERE s.last_active_at < :sessions_before) AS u
WHERE {may_begin}
ORDER BY u.user_id

-- everyone: due_to_embed
SELECT u.user_id,
    u.last_doc || ' ' || coalesce(
        (SELECT v.last_doc || '.' || v.rewrites FROM vector_spaces AS v
         WHERE v.user_id = u.user_id AND v.source = 'memory' AND v.model = :model), '')
    || ' ' || coalesce(
        (SELECT v.last_doc || '.' || v.rewrites FROM vector_spaces AS v
         WHERE v.user_id = u.user_id AND v.source = 'episode' AND v.model = :model), '')
FROM doc_ranges AS u
WHERE {may_begin}
ORDER BY u.user_id

-- everyone: left_running
SELECT u.user_id FROM jobs AS u
WHERE {may_begin} AND u.name = :job AND u.state = 'running'
ORDER BY u.user_id
