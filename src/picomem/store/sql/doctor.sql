-- everyone: users
SELECT user_id, octet_length(user_id) FROM (SELECT user_id FROM memories UNION SELECT user_id FROM changes UNION SELECT user_id FROM handouts UNION SELECT user_id FROM lineage
UNION SELECT user_id FROM transcripts UNION SELECT user_id FROM episodes UNION SELECT user_id FROM tombstones
UNION SELECT user_id FROM sessions UNION SELECT user_id FROM note_files UNION SELECT user_id FROM exports
UNION SELECT user_id FROM index_pages UNION SELECT user_id FROM holdings UNION SELECT user_id FROM spending
UNION SELECT user_id FROM vector_spaces UNION SELECT user_id FROM user_marks UNION SELECT user_id FROM doc_ranges
UNION SELECT user_id FROM access_tokens UNION SELECT user_id FROM jobs UNION SELECT user_id FROM channel_messages
UNION SELECT user_id FROM contacts UNION SELECT user_id FROM pairings) AS owners
ORDER BY 1

-- name: all_tombstones
SELECT digest, size, user_id, row_hash FROM tombstones WHERE user_id = :user ORDER BY digest

-- name: all_spending
SELECT day, model, calls, input_tokens, output_tokens, user_id, row_hash FROM spending
WHERE user_id = :user ORDER BY day, model

-- name: first_memory_doc
SELECT min(doc) FROM memories WHERE user_id = :user

-- name: first_episode_doc
SELECT min(doc) FROM episodes WHERE user_id = :user

-- name: first_note_doc
SELECT min(doc) FROM note_sections WHERE user_id = :user

-- name: last_memory_doc
SELECT max(doc) FROM memories WHERE user_id = :user

-- name: last_episode_doc
SELECT max(doc) FROM episodes WHERE user_id = :user

-- name: last_note_doc
SELECT max(doc) FROM note_sections WHERE user_id = :user

-- name: count_memory_orphans
SELECT count(*) FROM vectors
WHERE user_id = :user AND space IN (SELECT s.space FROM vector_spaces AS s WHERE s.user_id = :user AND s.source = 'memory')
  AND NOT EXISTS (SELECT 1 FROM memories AS r WHERE r.user_id = :user AND r.doc = vectors.doc AND {searchable})

-- name: delete_memory_orphans
DELETE FROM vectors
WHERE user_id = :user AND space IN (SELECT s.space FROM vector_spaces AS s WHERE s.user_id = :user AND s.source = 'memory')
  AND NOT EXISTS (SELECT 1 FROM memories AS r WHERE r.user_id = :user AND r.doc = vectors.doc AND {searchable})

-- name: count_episode_orphans
SELECT count(*) FROM vectors
WHERE user_id = :user AND space IN (SELECT s.space FROM vector_spaces AS s WHERE s.user_id = :user AND s.source = 'episode')
  AND NOT EXISTS (SELECT 1 FROM episodes AS r WHERE r.user_id = :user AND r.doc = vectors.doc)

-- name: delete_episode_orphans
DELETE FROM vectors
WHERE user_id = :user AND space IN (SELECT s.space FROM vector_spaces AS s WHERE s.user_id = :user AND s.source = 'episode')
  AND NOT EXISTS (SELECT 1 FROM episodes AS r WHERE r.user_id = :user AND r.doc = vectors.doc)

-- name: counted_episodes
SELECT count(*) FROM episodes WHERE user_id = :user

-- name: recount_episodes
INSERT INTO holdings (user_id, episodes) VALUES (:user, :episodes)
ON CONFLICT (user_id) DO UPDATE SET episodes = excluded.episodes

-- name: all_index_pages
SELECT {index_page_columns} FROM index_pages WHERE user_id = :user ORDER BY agent, project, budget

-- name: memories_without_change
SELECT DISTINCT m.id FROM memories AS m
WHERE m.user_id = :user AND NOT EXISTS (
    SELECT 1 FROM changes AS c WHERE c.user_id = :user AND c.id = m.change_id)

-- name: closed_without_change
SELECT DISTINCT m.id FROM memories AS m
WHERE m.user_id = :user AND m.known_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM changes AS c WHERE c.user_id = :user AND c.id = m.closed_by)

-- name: changes_without_memory
SELECT c.id FROM changes AS c
WHERE c.user_id = :user AND c.memory_id <> '' AND NOT EXISTS (
    SELECT 1 FROM memories AS m WHERE m.user_id = :user AND m.id = c.memory_id)

-- name: lineage_without_child
SELECT DISTINCT l.child_id FROM lineage AS l
WHERE l.user_id = :user AND l.child_kind = 'memory' AND NOT EXISTS (
    SELECT 1 FROM memories AS m WHERE m.user_id = :user AND m.id = l.child_id AND m.version = l.child_version)
