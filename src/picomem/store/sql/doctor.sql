-- name: users
SELECT user_id FROM memories UNION SELECT user_id FROM transcripts ORDER BY 1

-- name: memory_without_vector
SELECT m.doc, m.content FROM memories AS m
WHERE m.user_id = :user AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.user_id = :user AND v.source = 'memory' AND v.model = :model AND v.doc = m.doc)

-- name: episode_without_vector
SELECT e.doc, e.preview FROM episodes AS e
WHERE e.user_id = :user AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.user_id = :user AND v.source = 'episode' AND v.model = :model AND v.doc = e.doc)

-- name: memory_words_clear
INSERT INTO memory_words (memory_words) VALUES ('delete-all')

-- name: episode_words_clear
INSERT INTO episode_words (episode_words) VALUES ('delete-all')

-- name: vouch_memory
UPDATE memories SET kind = :kind, tags = :tags, related = :related, content_hash = :content_hash
WHERE user_id = :user AND id = :id AND version = :version

-- name: count_memory_orphans
SELECT count(*) FROM vectors
WHERE user_id = :user AND source = 'memory' AND NOT EXISTS (
    SELECT 1 FROM memories AS r WHERE r.user_id = :user AND r.doc = vectors.doc)

-- name: delete_memory_orphans
DELETE FROM vectors
WHERE user_id = :user AND source = 'memory' AND NOT EXISTS (
    SELECT 1 FROM memories AS r WHERE r.user_id = :user AND r.doc = vectors.doc)

-- name: count_episode_orphans
SELECT count(*) FROM vectors
WHERE user_id = :user AND source = 'episode' AND NOT EXISTS (
    SELECT 1 FROM episodes AS r WHERE r.user_id = :user AND r.doc = vectors.doc)

-- name: delete_episode_orphans
DELETE FROM vectors
WHERE user_id = :user AND source = 'episode' AND NOT EXISTS (
    SELECT 1 FROM episodes AS r WHERE r.user_id = :user AND r.doc = vectors.doc)
