-- name: memory_without_vector
SELECT m.doc, m.content FROM memories AS m
WHERE m.user_id = :user AND m.doc > :after AND {searchable} AND NOT EXISTS (
    SELECT 1 FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
    WHERE s.user_id = :user AND s.source = 'memory' AND s.model = :model AND v.doc = m.doc)
ORDER BY m.doc LIMIT :limit

-- name: episode_without_vector
SELECT e.doc, coalesce(nullif(e.preview, ''), nullif(e.actions, ''), e.outcomes) FROM episodes AS e
WHERE e.user_id = :user AND e.doc > :after AND NOT EXISTS (
    SELECT 1 FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
    WHERE s.user_id = :user AND s.source = 'episode' AND s.model = :model AND v.doc = e.doc)
ORDER BY e.doc LIMIT :limit

-- name: count_memory_without_vector
SELECT count(*) FROM memories AS m
WHERE m.user_id = :user AND {searchable} AND NOT EXISTS (
    SELECT 1 FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
    WHERE s.user_id = :user AND s.source = 'memory' AND s.model = :model AND v.doc = m.doc)

-- name: count_episode_without_vector
SELECT count(*) FROM episodes AS e
WHERE e.user_id = :user AND NOT EXISTS (
    SELECT 1 FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
    WHERE s.user_id = :user AND s.source = 'episode' AND s.model = :model AND v.doc = e.doc)

-- name: memory_text
SELECT content FROM memories WHERE user_id = :user AND doc = :doc AND {searchable}

-- name: episode_text
SELECT coalesce(nullif(preview, ''), nullif(actions, ''), outcomes) FROM episodes WHERE user_id = :user AND doc = :doc

-- name: vector_length
SELECT length(v.vector) FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
WHERE s.user_id = :user AND s.model = :model LIMIT 1

-- name: spaces_of_model
SELECT space FROM vector_spaces WHERE user_id = :user AND model = :model

-- name: spaces_of_other_models
SELECT space FROM vector_spaces WHERE user_id = :user AND model <> :model

-- name: clear_space
DELETE FROM vectors
WHERE user_id = :user AND space = :space AND doc IN (
    SELECT v.doc FROM vectors AS v WHERE v.user_id = :user AND v.space = :space ORDER BY v.doc LIMIT :limit)

-- name: count_rewrites
UPDATE vector_spaces SET rewrites = rewrites + :count WHERE user_id = :user AND space = :space
