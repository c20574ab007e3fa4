-- part: session_columns
s.id, s.agent, s.project, s.channel, s.channel_id, s.title, s.state, s.permissions, s.forked_from, s.created_at,
    s.last_active_at, s.archived_at, s.last_consolidated_seq, s.last_consolidated_at, s.consolidation_failures,
    s.user_id, s.row_hash

-- part: message_columns
session_id, seq, id, role, content, tool_calls, tool_call_id, origin, tokens, created_at, user_id, row_hash

-- name: put_session
INSERT INTO sessions (user_id, id, channel, channel_id, agent, project, title, state, permissions, forked_from,
    created_at, last_active_at, archived_at, last_consolidated_seq, last_consolidated_at, consolidation_failures,
    row_hash)
VALUES (:user, :id, :channel, :channel_id, :agent, :project, :title, :state, :permissions, :forked_from,
    :created_at, :last_active_at, :archived_at, :last_consolidated_seq, :last_consolidated_at,
    :consolidation_failures, :row_hash)
ON CONFLICT (user_id, id) DO UPDATE SET title = excluded.title, state = excluded.state,
    last_active_at = excluded.last_active_at, archived_at = excluded.archived_at

-- name: session
SELECT {session_columns} FROM sessions AS s WHERE s.user_id = :user AND s.id = :id

-- name: sessions_that_begin
SELECT name FROM (
    SELECT s.id AS name FROM sessions AS s
    WHERE :conversations = 1 AND s.user_id = :user AND s.id >= :from AND s.id < :to
    UNION SELECT t.session FROM transcripts AS t
    WHERE :transcripts = 1 AND t.user_id = :user AND t.session >= :from AND t.session < :to
      AND (:conversations = 1 OR t.path NOT LIKE 'picomem:%')
    UNION SELECT m.session FROM memories AS m
    WHERE :memories = 1 AND m.user_id = :user AND m.session >= :from AND m.session < :to
) AS named ORDER BY name LIMIT 2

-- name: session_of_channel
SELECT {session_columns} FROM sessions AS s
WHERE s.user_id = :user AND s.channel = :channel AND s.channel_id = :channel_id AND s.agent = :agent
  AND s.project = :project AND s.archived_at IS NULL
ORDER BY s.last_active_at DESC, s.id DESC LIMIT 1

-- name: sessions_of_channel
SELECT {session_columns} FROM sessions AS s
WHERE s.user_id = :user AND s.channel = :channel AND s.channel_id = :channel_id AND s.archived_at IS NULL
ORDER BY s.last_active_at DESC, s.id DESC LIMIT :limit

-- name: sessions_page
SELECT {session_columns} FROM sessions AS s
WHERE s.user_id = :user AND (:channel = '' OR s.channel = :channel) AND (:agent = '' OR s.agent = :agent)
  AND (:project = '' OR s.project = :project) AND (s.archived_at IS NOT NULL) = (:archived = 1)
  AND (:at IS NULL OR s.last_active_at < :at OR (s.last_active_at = :at AND s.id < :id))
ORDER BY s.last_active_at DESC, s.id DESC LIMIT :limit

-- name: sessions_before
SELECT {session_columns} FROM sessions AS s WHERE s.user_id = :user AND s.last_active_at < :before

-- name: insert_message
INSERT INTO messages (user_id, session_id, seq, id, role, content, tool_calls, tool_call_id, origin, tokens,
    created_at, row_hash)
VALUES (:user, :session_id, :seq, :id, :role, :content, :tool_calls, :tool_call_id, :origin, :tokens, :created_at,
    :row_hash)

-- name: last_message_seq
SELECT max(seq) FROM messages WHERE user_id = :user AND session_id = :session_id

-- name: last_user_seq
SELECT max(seq) FROM messages WHERE user_id = :user AND session_id = :session_id AND role = 'user'

-- name: count_messages
SELECT count(*) FROM messages WHERE user_id = :user AND session_id = :session_id AND seq < :before

-- name: messages_after
SELECT {message_columns} FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq > :seq ORDER BY seq

-- name: messages_page
SELECT {message_columns} FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq > :seq ORDER BY seq LIMIT :limit

-- name: last_messages
SELECT {message_columns} FROM messages
WHERE user_id = :user AND session_id = :session_id ORDER BY seq DESC LIMIT :limit

-- name: messages_between
SELECT {message_columns} FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq > :after AND seq < :before ORDER BY seq DESC LIMIT :limit

-- name: session_end
SELECT seq, row_hash FROM messages
WHERE user_id = :user AND session_id = :session_id ORDER BY seq DESC LIMIT :limit

-- name: tool_messages
SELECT seq, tool_calls, tool_call_id FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq > :after AND (tool_calls <> '[]' OR tool_call_id <> '')
ORDER BY seq

-- part: summary_columns
session_id, summary, message_count, covered_seq, created_at, updated_at, origin, user_id, row_hash

-- name: session_summary
SELECT {summary_columns} FROM session_summaries WHERE user_id = :user AND session_id = :session_id

-- name: put_session_summary
INSERT INTO session_summaries (user_id, session_id, summary, origin, message_count, covered_seq, created_at, updated_at,
    row_hash)
VALUES (:user, :session_id, :summary, :origin, :message_count, :covered_seq, :created_at, :updated_at, :row_hash)
ON CONFLICT (user_id, session_id) DO UPDATE SET summary = excluded.summary, origin = excluded.origin,
    message_count = excluded.message_count, covered_seq = excluded.covered_seq, created_at = excluded.created_at,
    updated_at = excluded.updated_at, row_hash = excluded.row_hash

-- name: message_by_id
SELECT {message_columns} FROM messages WHERE user_id = :user AND id = :id

-- name: message_marks
SELECT seq, row_hash FROM messages
WHERE user_id = :user AND session_id = :session_id AND seq > :after AND seq <= :last ORDER BY seq
