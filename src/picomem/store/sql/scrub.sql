-- name: forget_index_pages
DELETE FROM index_pages WHERE user_id = :user

-- name: rewrite_candidate
UPDATE changes SET candidate = :candidate, content_hash = :content_hash WHERE user_id = :user AND id = :id

-- name: all_changes
SELECT id, reason, candidate FROM changes WHERE user_id = :user ORDER BY id

-- name: rewrite_memory_text
UPDATE memories SET content = :content, context = :context, tokens = :tokens, content_hash = :content_hash
WHERE user_id = :user AND id = :id AND version = :version
