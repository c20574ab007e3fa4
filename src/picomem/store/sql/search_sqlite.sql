-- name: memory_words_add
INSERT INTO memory_words (rowid, name, body) VALUES (:doc, :name, :body)

-- name: memory_words_remove
INSERT INTO memory_words (memory_words, rowid, name, body) VALUES ('delete', :doc, :name, :body)

-- name: episode_words_add
INSERT INTO episode_words (rowid, body) VALUES (:doc, :body)

-- name: episode_words_remove
INSERT INTO episode_words (episode_words, rowid, body) VALUES ('delete', :doc, :body)

-- name: memory_word_scores
SELECT rowid, -bm25(memory_words, 2.0, 1.0) FROM memory_words WHERE memory_words MATCH :match

-- name: episode_word_scores
-- `rank` is bm25() of the same, and an eighth faster.
SELECT rowid, -rank FROM episode_words WHERE episode_words MATCH :match

-- name: memory_word_count
SELECT doc FROM memory_vocabulary WHERE term = :term

-- name: episode_word_count
SELECT doc FROM episode_vocabulary WHERE term = :term

-- name: memory_words_near
SELECT term, doc FROM memory_vocabulary WHERE term >= :from AND term < :to LIMIT :limit

-- name: episode_words_near
SELECT term, doc FROM episode_vocabulary WHERE term >= :from AND term < :to LIMIT :limit

-- name: memory_words_size
SELECT count(*) FROM memory_words_docsize

-- name: episode_words_size
SELECT count(*) FROM episode_words_docsize

-- name: memory_words_averages
SELECT block FROM memory_words_data WHERE id = 1

-- name: episode_words_averages
SELECT block FROM episode_words_data WHERE id = 1

-- name: count_memory_docs
SELECT count(*) FROM memories WHERE user_id = :user

-- name: episodes_around
-- From each episode back to the beginning of the one before it, and on to the turn after it. CROSS JOIN fixes the order:
-- a few seeks for each episode, and no scan.
SELECT n.transcript_id, n.first_turn, n.part, n.last_turn, n.doc, n.tokens, n.role, n.started_at
FROM json_each(:docs) AS asked
CROSS JOIN episodes AS e ON e.user_id = :user AND e.doc = asked.value
CROSS JOIN episodes AS n ON n.user_id = :user AND n.transcript_id = e.transcript_id
    AND n.first_turn BETWEEN coalesce((
        SELECT max(b.first_turn) FROM episodes AS b
        WHERE b.user_id = :user AND b.transcript_id = e.transcript_id AND b.first_turn < e.first_turn), e.first_turn)
    AND e.last_turn + 1
    AND n.last_turn >= e.first_turn - 1

-- name: schema_texts
-- What the file says of itself, in which words of people may stand by chance.
SELECT name, sql FROM sqlite_schema

-- name: doc_range
SELECT last_doc, user_id, row_hash FROM doc_ranges WHERE user_id = :user

-- name: highest_doc_of_all
SELECT max(last_doc) FROM doc_ranges

-- name: put_doc_range
INSERT INTO doc_ranges (user_id, last_doc, row_hash) VALUES (:user, :last_doc, :row_hash)
ON CONFLICT (user_id) DO UPDATE SET last_doc = excluded.last_doc, row_hash = excluded.row_hash
