-- name: forget_index_pages
DELETE FROM index_pages WHERE user_id = :user

-- name: all_changes
SELECT id, reason, candidate, content_hash FROM changes WHERE user_id = :user ORDER BY id

-- name: rewrite_change_text
UPDATE changes SET reason = :reason, candidate = :candidate, content_hash = :content_hash
WHERE user_id = :user AND id = :id

-- name: rewrite_memory_text
UPDATE memories SET content = :content, context = :context, tags = :tags, related = :related, tokens = :tokens,
    content_hash = :content_hash
WHERE user_id = :user AND id = :id AND version = :version

-- name: rewrite_episode_text
UPDATE episodes SET preview = :preview, summary = :summary, tokens = :tokens, content_hash = :content_hash
WHERE user_id = :user AND id = :id

-- name: retitle_transcript
UPDATE transcripts SET title = :title, content_hash = :content_hash WHERE user_id = :user AND id = :id
