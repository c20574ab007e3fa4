-- name: forget_index_pages
DELETE FROM index_pages WHERE user_id = :user

-- name: rewrite_change_text
UPDATE changes SET reason = :reason, candidate = :candidate, content_hash = :content_hash,
    salt = :salt
WHERE user_id = :user AND id = :id

-- name: rewrite_memory_text
UPDATE memories SET content = :content, context = :context, tags = :tags, related = :related, path = :path,
    tokens = :tokens
WHERE user_id = :user AND id = :id AND version = :version

-- name: rewrite_episode_text
UPDATE episodes SET suggested = :suggested, preview = :preview, summary = :summary, tokens = :tokens, actions = :actions,
    outcomes = :outcomes, tags = :tags
WHERE user_id = :user AND id = :id

-- name: retitle_transcript
UPDATE transcripts SET title = :title WHERE user_id = :user AND id = :id

-- name: rewrite_message_text
UPDATE messages SET content = :content, tool_calls = :tool_calls, tool_call_id = :tool_call_id, tokens = :tokens
WHERE user_id = :user AND session_id = :session_id AND seq = :seq

-- name: rewrite_session_text
UPDATE sessions SET title = :title, channel_id = :channel_id
WHERE user_id = :user AND id = :id

-- name: rewrite_summary_text
UPDATE session_summaries SET summary = :summary
WHERE user_id = :user AND session_id = :session_id

-- name: count_sessions
SELECT count(*) FROM sessions WHERE user_id = :user

-- name: count_all_messages
SELECT count(*) FROM messages WHERE user_id = :user
