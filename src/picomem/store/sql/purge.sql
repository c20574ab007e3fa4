-- What a plan is made from.

-- name: transcript_ages
SELECT id, host, session, parent_session, path, title, size, coalesce(ended_at, started_at, updated_at) FROM transcripts
WHERE user_id = :user ORDER BY id

-- name: episode_ages
SELECT id, transcript_id, coalesce(ended_at, started_at, created_at), identity FROM episodes
WHERE user_id = :user ORDER BY id

-- name: version_texts
SELECT id, version, key, session, content, context FROM memories WHERE user_id = :user ORDER BY id, version

-- name: refusal_ages
SELECT id, at FROM changes WHERE user_id = :user AND decision = 'refuse' ORDER BY id

-- name: session_ages
SELECT id, forked_from, last_active_at FROM sessions WHERE user_id = :user ORDER BY id

-- name: session_ids
SELECT id FROM sessions WHERE user_id = :user ORDER BY id

-- name: message_ages
SELECT session_id, seq, id, created_at FROM messages WHERE user_id = :user ORDER BY session_id, seq

-- name: summaries_covered
SELECT session_id, covered_seq FROM session_summaries WHERE user_id = :user

-- name: all_lineage
SELECT {lineage_columns} FROM lineage
WHERE user_id = :user

-- name: whole_changes
SELECT {change_columns} FROM changes WHERE user_id = :user ORDER BY id

-- name: all_messages
SELECT {message_columns} FROM messages WHERE user_id = :user ORDER BY session_id, seq

-- name: all_sessions
SELECT {session_columns} FROM sessions AS s WHERE s.user_id = :user ORDER BY s.id

-- name: all_summaries
SELECT {summary_columns} FROM session_summaries
WHERE user_id = :user ORDER BY session_id

-- What goes.

-- name: purge_version
DELETE FROM memories WHERE user_id = :user AND id = :id AND version = :version

-- name: purge_transcript
DELETE FROM transcripts WHERE user_id = :user AND id = :id

-- name: an_episode_of_transcript
SELECT 1 FROM episodes WHERE user_id = :user AND transcript_id = :transcript LIMIT 1

-- name: purge_messages
DELETE FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq IN (SELECT value FROM json_each(:seqs))

-- name: purge_summary
DELETE FROM session_summaries WHERE user_id = :user AND session_id = :session_id

-- name: purge_session
DELETE FROM sessions WHERE user_id = :user AND id = :id

-- name: purge_lineage_of
DELETE FROM lineage WHERE user_id = :user AND child_kind = :kind AND child_id = :id AND child_version = :version

-- name: purge_lineage_from
DELETE FROM lineage WHERE user_id = :user AND parent_kind = :kind AND parent_id = :id AND parent_version = :version

-- name: blank_change
UPDATE changes SET reason = :reason, candidate = '', memory_id = :memory_id, before = :before, after = :after,
    content_hash = :content_hash, idempotency_key = NULL, request_hash = NULL, salt = :salt
WHERE user_id = :user AND id = :id

-- name: purge_changes
DELETE FROM changes WHERE user_id = :user

-- name: purge_lineage
DELETE FROM lineage WHERE user_id = :user

-- name: purge_holdings
DELETE FROM holdings WHERE user_id = :user

-- What stays, without what it had from what goes.

-- name: move_version
UPDATE memories SET project = :project, key = :key WHERE user_id = :user AND id = :id AND version = :version

-- name: retell_transcript
UPDATE transcripts SET title = :title, state = :state
WHERE user_id = :user AND id = :id

-- What keeps it from coming back.

-- name: put_tombstone
INSERT INTO tombstones (user_id, digest, size, row_hash) VALUES (:user, :digest, :size, :row_hash)
ON CONFLICT (user_id, digest) DO UPDATE SET size = excluded.size WHERE tombstones.size IS NOT NULL

-- name: put_words_tombstone
INSERT INTO tombstones (user_id, digest, size, row_hash) VALUES (:user, :digest, :size, :row_hash)
ON CONFLICT (user_id, digest) DO UPDATE SET size = excluded.size WHERE tombstones.size < excluded.size

-- name: any_tombstone
SELECT 1 FROM tombstones WHERE user_id = :user LIMIT 1

-- name: tombstones
SELECT digest, size, user_id, row_hash FROM tombstones WHERE user_id = :user AND digest IN (SELECT value FROM json_each(:digests))

-- Exported pages.

-- name: put_export
INSERT INTO exports (user_id, path, agent, project, budget, exported_at, content_hash, row_hash)
VALUES (:user, :path, :agent, :project, :budget, :exported_at, :content_hash, :row_hash)
ON CONFLICT (user_id, path) DO UPDATE SET agent = excluded.agent, project = excluded.project, budget = excluded.budget,
    exported_at = excluded.exported_at, content_hash = excluded.content_hash, row_hash = excluded.row_hash

-- name: exports
SELECT path, agent, project, budget, content_hash, exported_at, user_id, row_hash FROM exports WHERE user_id = :user ORDER BY path

-- name: export
SELECT path, agent, project, budget, content_hash, exported_at, user_id, row_hash FROM exports
WHERE user_id = :user AND path = :path

-- name: forget_export
DELETE FROM exports WHERE user_id = :user AND path = :path

-- name: delete_meta
DELETE FROM meta WHERE name = :name
