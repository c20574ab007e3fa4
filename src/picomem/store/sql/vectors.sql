-- name: vector_space
SELECT space, last_doc, rewrites FROM vector_spaces WHERE user_id = :user AND source = :source AND model = :model

-- name: vector_spaces_of
SELECT space FROM vector_spaces WHERE user_id = :user AND source = :source

-- name: last_vector_space
SELECT max(space) FROM vector_spaces WHERE user_id = :user

-- name: add_vector_space
INSERT INTO vector_spaces (user_id, source, model, space, last_doc, rewrites)
VALUES (:user, :source, :model, :space, :doc, 0)

-- name: raise_last_doc
UPDATE vector_spaces SET last_doc = :doc WHERE user_id = :user AND source = :source AND model = :model

-- name: put_vector
INSERT INTO vectors (user_id, space, doc, scale, vector) VALUES (:user, :space, :doc, :scale, :vector)
ON CONFLICT (user_id, space, doc) DO UPDATE SET scale = excluded.scale, vector = excluded.vector

-- name: delete_vector
DELETE FROM vectors WHERE user_id = :user AND space = :space AND doc = :doc

-- name: count_rewrite
UPDATE vector_spaces SET rewrites = rewrites + 1 WHERE user_id = :user AND space = :space RETURNING rewrites

-- name: log_rewrite
INSERT INTO vector_rewrites (user_id, space, number, doc) VALUES (:user, :space, :number, :doc)

-- name: forget_rewrites
DELETE FROM vector_rewrites WHERE user_id = :user AND space = :space AND number <= :last

-- name: rewritten_vectors
SELECT doc FROM vector_rewrites WHERE user_id = :user AND space = :space AND number > :since

-- name: vectors_after
SELECT doc, scale, vector FROM vectors WHERE user_id = :user AND space = :space AND doc > :doc
ORDER BY doc LIMIT :limit

-- name: vectors_of
SELECT doc, scale, vector FROM vectors
WHERE user_id = :user AND space = :space AND doc IN (SELECT value FROM json_each(:docs))

-- name: count_vectors
SELECT s.source, s.model, count(*)
FROM vector_spaces AS s JOIN vectors AS v ON v.user_id = s.user_id AND v.space = s.space
WHERE s.user_id = :user AND NOT (s.source = 'episode' AND v.doc IN (
    SELECT e.doc FROM transcripts AS t CROSS JOIN episodes AS e ON e.user_id = t.user_id AND e.transcript_id = t.id
    WHERE t.user_id = :user AND t.send_policy = 'deny'))
GROUP BY s.source, s.model ORDER BY s.source, s.model
