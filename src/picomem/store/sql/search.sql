-- Look-ups of search that are plain statements on every database.

-- name: episodes_around
-- From each episode back to the beginning of the one before it, and on to the turn after it: a few seeks for each
-- episode, and no scan. CROSS JOIN fixes the order. The bounds are columns of their own, because under row-level security
-- PostgreSQL looks nothing up in an index by the result of an addition.
WITH bounds AS MATERIALIZED (
    SELECT e.transcript_id, e.first_turn - 1 AS touching, e.last_turn + 1 AS until, coalesce((
        SELECT max(b.first_turn) FROM episodes AS b
        WHERE b.user_id = :user AND b.transcript_id = e.transcript_id AND b.first_turn < e.first_turn), e.first_turn) AS since
    FROM episodes AS e
    WHERE e.user_id = :user AND e.doc IN (SELECT value FROM json_each(:docs))
)
SELECT n.transcript_id, n.first_turn, n.part, n.last_turn, n.doc, n.tokens, n.role, n.started_at
FROM bounds AS asked
CROSS JOIN episodes AS n ON n.user_id = :user AND n.transcript_id = asked.transcript_id
    AND n.first_turn BETWEEN asked.since AND asked.until AND n.last_turn >= asked.touching

-- name: doc_range
SELECT last_doc, user_id, row_hash FROM doc_ranges WHERE user_id = :user

-- name: put_doc_range
INSERT INTO doc_ranges (user_id, last_doc, row_hash) VALUES (:user, :last_doc, :row_hash)
ON CONFLICT (user_id) DO UPDATE SET last_doc = excluded.last_doc, row_hash = excluded.row_hash
