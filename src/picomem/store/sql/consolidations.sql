-- name: sessions_to_consolidate
SELECT {session_columns} FROM sessions AS s
WHERE s.user_id = :user AND (:agent = '' OR s.agent = :agent) AND (:project = '' OR s.project = :project)
  AND s.last_consolidated_seq < (
    SELECT max(m.seq) FROM messages AS m WHERE m.user_id = :user AND m.session_id = s.id)
ORDER BY s.last_active_at, s.id

-- name: move_pointer
UPDATE sessions SET last_consolidated_seq = :seq, last_consolidated_at = :at, consolidation_failures = :failures
WHERE user_id = :user AND id = :id AND last_consolidated_seq = :before

-- name: count_failure
UPDATE sessions SET consolidation_failures = consolidation_failures + 1
WHERE user_id = :user AND id = :id AND last_consolidated_seq = :before

-- name: insert_consolidation
INSERT INTO consolidations (user_id, run, session_id, change_id, generator, first_seq, last_seq, before_seq, before_at,
    before_failures, before_summary, summarised, episodes, at, row_hash)
VALUES (:user, :run, :session_id, :change_id, :generator, :first_seq, :last_seq, :before_seq, :before_at,
    :before_failures, :before_summary, :summarised, :episodes, :at, :row_hash)

-- part: consolidation_columns
run, session_id, first_seq, last_seq, before_seq, before_at, before_failures, before_summary, summarised, episodes,
    change_id, generator, at, user_id, row_hash

-- name: consolidation
SELECT {consolidation_columns} FROM consolidations WHERE user_id = :user AND run = :run

-- name: all_consolidations
SELECT {consolidation_columns} FROM consolidations WHERE user_id = :user ORDER BY run

-- name: latest_consolidation
SELECT run FROM consolidations WHERE user_id = :user AND session_id = :session_id ORDER BY change_id DESC LIMIT 1

-- name: rewrite_consolidation_text
UPDATE consolidations SET before_summary = :before_summary, episodes = :episodes
WHERE user_id = :user AND run = :run

-- name: purge_consolidations
DELETE FROM consolidations WHERE user_id = :user AND session_id = :session_id

-- name: delete_consolidation
DELETE FROM consolidations WHERE user_id = :user AND run = :run

-- name: move_pointer_back
UPDATE sessions SET last_consolidated_seq = :seq, last_consolidated_at = :at, consolidation_failures = :failures
WHERE user_id = :user AND id = :id AND last_consolidated_seq = :last

-- name: purge_spending
DELETE FROM spending WHERE user_id = :user

-- name: add_spending
INSERT INTO spending (user_id, day, model, calls, input_tokens, output_tokens, row_hash)
VALUES (:user, :day, :model, :calls, :input_tokens, :output_tokens, :row_hash)
ON CONFLICT (user_id, day, model) DO UPDATE SET calls = spending.calls + excluded.calls,
    input_tokens = spending.input_tokens + excluded.input_tokens,
    output_tokens = spending.output_tokens + excluded.output_tokens

-- name: spent_on
SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0) FROM spending
WHERE user_id = :user AND day = :day

-- name: spent_by_day
SELECT day, sum(input_tokens) + sum(output_tokens) FROM spending
WHERE user_id = :user AND day >= :first GROUP BY day ORDER BY day

-- name: spent_in_all
SELECT model, sum(calls), sum(input_tokens), sum(output_tokens) FROM spending
WHERE user_id = :user GROUP BY model ORDER BY model

-- name: insert_transcript_consolidation
INSERT INTO transcript_consolidations (user_id, run, transcript_id, change_id, generator, first_turn, last_turn,
    before_turn, generation, episodes, at, row_hash)
VALUES (:user, :run, :transcript_id, :change_id, :generator, :first_turn, :last_turn, :before_turn, :generation,
    :episodes, :at, :row_hash)

-- part: transcript_consolidation_columns
run, transcript_id, first_turn, last_turn, before_turn, generation, episodes, change_id, generator, at, user_id, row_hash

-- name: transcript_consolidation
SELECT {transcript_consolidation_columns} FROM transcript_consolidations WHERE user_id = :user AND run = :run

-- name: all_transcript_consolidations
SELECT {transcript_consolidation_columns} FROM transcript_consolidations WHERE user_id = :user ORDER BY run

-- name: latest_transcript_consolidation
SELECT {transcript_consolidation_columns} FROM transcript_consolidations
WHERE user_id = :user AND transcript_id = :transcript_id ORDER BY change_id DESC LIMIT 1

-- name: transcript_consolidations_of
SELECT {transcript_consolidation_columns} FROM transcript_consolidations
WHERE user_id = :user AND transcript_id = :transcript_id ORDER BY change_id DESC

-- A run that was undone is followed by one that ends where it began.
-- name: distilled_transcripts
SELECT r.transcript_id, r.last_turn, r.generation FROM transcript_consolidations AS r
WHERE r.user_id = :user AND r.last_turn > 0 AND r.change_id = (
    SELECT max(o.change_id) FROM transcript_consolidations AS o
    WHERE o.user_id = :user AND o.transcript_id = r.transcript_id)

-- name: rewrite_transcript_consolidation_text
UPDATE transcript_consolidations SET episodes = :episodes WHERE user_id = :user AND run = :run

-- name: delete_transcript_consolidation
DELETE FROM transcript_consolidations WHERE user_id = :user AND run = :run

-- Withheld transcripts, those of sub-agents and those that stand for a conversation with PicoBot are none of these.
-- name: transcripts_to_consolidate
WITH latest AS (
    SELECT r.transcript_id, r.last_turn, r.generation, r.at FROM transcript_consolidations AS r
    WHERE r.user_id = :user AND r.change_id = (
        SELECT max(o.change_id) FROM transcript_consolidations AS o
        WHERE o.user_id = :user AND o.transcript_id = r.transcript_id)
)
SELECT t.id, count(*), sum(CASE WHEN e.tokens < :most THEN e.tokens ELSE :most END)
FROM transcripts AS t
JOIN episodes AS e ON e.user_id = t.user_id AND e.transcript_id = t.id
LEFT JOIN latest AS l ON l.transcript_id = t.id
WHERE t.user_id = :user AND t.send_policy <> 'deny' AND t.parent_session = '' AND t.path NOT LIKE 'picomem:session/%'
  AND (:agent = '' OR t.agent = :agent) AND (:project = '' OR t.project = :project)
  AND e.category = 'transcript' AND e.preview <> ''
  AND (l.transcript_id IS NULL
       OR (l.generation = t.generation AND e.last_turn >= l.last_turn)
       OR (l.generation <> t.generation AND e.created_at > l.at))
GROUP BY t.id, t.ended_at, t.updated_at
ORDER BY coalesce(t.ended_at, t.updated_at) DESC, t.id DESC
