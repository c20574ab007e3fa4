-- Full text on SQLite, see sqlite/fts5.py, and what only SQLite asks.

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
ORDER BY rowid DESC LIMIT :limit

-- name: memory_words_matching
SELECT count(*) FROM memory_words WHERE memory_words MATCH :match

-- name: episode_word_scores
-- `rank` is bm25() of the same, and an eighth faster.
SELECT rowid, -rank FROM episode_words WHERE episode_words MATCH :match
ORDER BY rowid DESC LIMIT :limit

-- name: episode_words_matching
SELECT count(*) FROM episode_words WHERE episode_words MATCH :match

-- name: memory_words_latest
SELECT rowid FROM memory_words WHERE memory_words MATCH :match ORDER BY rowid DESC LIMIT :limit

-- name: episode_words_latest
SELECT rowid FROM episode_words WHERE episode_words MATCH :match ORDER BY rowid DESC LIMIT :limit

-- name: episode_words_between
SELECT rowid FROM episode_words WHERE episode_words MATCH :match AND rowid BETWEEN :first AND :last

-- name: memory_word_counts
SELECT term, doc FROM memory_vocabulary WHERE term IN (SELECT value FROM json_each(:terms))

-- name: episode_word_counts
SELECT term, doc FROM episode_vocabulary WHERE term IN (SELECT value FROM json_each(:terms))

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

-- name: schema_texts
-- What the file says of itself, in which words of people may stand by chance.
SELECT name, sql FROM sqlite_schema

-- name: schema_parts
-- SQLite's own tables, such as that of ANALYZE, are part of no schema.
SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'

-- everyone: highest_doc_of_all
SELECT max(last_doc) FROM doc_ranges

-- name: note_words_add
INSERT INTO note_words (rowid, name, body) VALUES (:doc, :name, :body)

-- name: note_words_remove
INSERT INTO note_words (note_words, rowid, name, body) VALUES ('delete', :doc, :name, :body)

-- name: note_words_clear
INSERT INTO note_words (note_words) VALUES ('delete-all')

-- name: note_words_size
SELECT count(*) FROM note_words_docsize

-- name: note_word_scores
SELECT rowid, -bm25(note_words, 2.0, 1.0) FROM note_words WHERE note_words MATCH :match
ORDER BY rowid DESC LIMIT :limit

-- name: note_words_matching
SELECT count(*) FROM note_words WHERE note_words MATCH :match

-- name: note_word_counts
SELECT term, doc FROM note_vocabulary WHERE term IN (SELECT value FROM json_each(:terms))

-- name: note_words_near
SELECT term, doc FROM note_vocabulary WHERE term >= :from AND term < :to LIMIT :limit

-- name: note_words_averages
SELECT block FROM note_words_data WHERE id = 1

-- name: memory_words_clear
INSERT INTO memory_words (memory_words) VALUES ('delete-all')

-- name: episode_words_clear
INSERT INTO episode_words (episode_words) VALUES ('delete-all')

-- Full text, written anew as a whole: one document more makes another segment, so that there is something to merge.

-- name: memory_words_optimize
INSERT INTO memory_words (memory_words) VALUES ('optimize')

-- name: episode_words_optimize
INSERT INTO episode_words (episode_words) VALUES ('optimize')

-- name: note_words_optimize
INSERT INTO note_words (note_words) VALUES ('optimize')

-- name: memory_words_with
SELECT term FROM memory_vocabulary WHERE instr(term, :part) LIMIT 1

-- name: episode_words_with
SELECT term FROM episode_vocabulary WHERE instr(term, :part) LIMIT 1

-- name: note_words_with
SELECT term FROM note_vocabulary WHERE instr(term, :part) LIMIT 1
