-- Full text on PostgreSQL, see postgres/search.py.

-- name: add_postings
-- The user is taken from a row of theirs, because Citus runs an INSERT of a SELECT on one machine only by a table there.
INSERT INTO word_postings (user_id, source, term, doc, frequency, size)
SELECT t.user_id, t.source, p.term, p.doc, p.frequency, p.size
FROM word_totals AS t
CROSS JOIN
    unnest(CAST(:words AS text[]), CAST(:numbers AS bigint[]), CAST(:frequencies AS bigint[]), CAST(:sizes AS bigint[]))
    AS p (term, doc, frequency, size)
WHERE t.user_id = :user AND t.source = :source

-- name: remove_postings
DELETE FROM word_postings WHERE user_id = :user AND source = :source AND doc = :doc AND term = ANY(:words)

-- name: add_to_word_totals
INSERT INTO word_totals (user_id, source, documents, terms) VALUES (:user, :source, :documents, :terms)
ON CONFLICT (user_id, source) DO UPDATE SET documents = word_totals.documents + excluded.documents,
    terms = word_totals.terms + excluded.terms

-- part: TOTALS
-- The first row: no term, but how many documents the user has in the source, and how many terms they have.
SELECT '' AS term, CAST(coalesce(sum(documents), 0) AS bigint) AS doc, CAST(coalesce(sum(terms), 0) AS bigint) AS frequency,
    0 AS size
FROM word_totals WHERE user_id = :user AND source = :source
UNION ALL

-- name: postings_of
{TOTALS}
SELECT p.term, p.doc, p.frequency, p.size FROM unnest(CAST(:words AS text[])) AS w (term) CROSS JOIN LATERAL (
    SELECT term, doc, frequency, size FROM word_postings
    WHERE user_id = :user AND source = :source AND term = w.term ORDER BY doc DESC LIMIT :limit) AS p

-- name: postings_between
{TOTALS}
(SELECT '', doc, sum(frequency), max(size) FROM word_postings
 WHERE user_id = :user AND source = :source AND term >= :from AND term < :to GROUP BY doc ORDER BY doc DESC LIMIT :limit)

-- name: latest_docs_with
SELECT doc FROM word_postings WHERE user_id = :user AND source = :source AND term = ANY(:words)
GROUP BY doc HAVING count(*) = :count ORDER BY doc DESC LIMIT :limit

-- name: docs_between
SELECT DISTINCT doc FROM word_postings
WHERE user_id = :user AND source = :source AND term >= :from AND term < :to AND doc BETWEEN :first AND :last

-- name: count_postings
SELECT term, count(*) FROM word_postings
WHERE user_id = :user AND source = :source AND term = ANY(:words) GROUP BY term

-- name: terms_between
SELECT h.head, t.term, t.documents FROM unnest(CAST(:words AS text[])) AS h (head)
CROSS JOIN LATERAL (
    SELECT term, count(*) AS documents FROM word_postings
    WHERE user_id = :user AND source = :source AND term >= h.head COLLATE "C" AND term < h.head || :highest COLLATE "C"
    GROUP BY term ORDER BY term LIMIT :limit
) AS t ORDER BY t.term

-- name: user_term_with
SELECT 1 FROM word_postings WHERE user_id = :user AND strpos(term, :part) > 0 LIMIT 1

-- everyone: any_term_with
SELECT 1 FROM word_postings WHERE strpos(term, :part) > 0 LIMIT 1

-- everyone: indexed_documents
SELECT coalesce(sum(documents), 0) FROM word_totals WHERE source = :source

-- everyone: all_postings
SELECT user_id, term, doc, frequency, size FROM word_postings WHERE source = :source

-- everyone: all_word_totals
SELECT user_id, documents, terms FROM word_totals WHERE source = :source

-- everyone: clear_postings
DELETE FROM word_postings WHERE source = :source

-- everyone: clear_word_totals
DELETE FROM word_totals WHERE source = :source

-- name: schema_texts
-- Of the server's files, in which the schema stands too, nothing is scanned.
SELECT name, value FROM meta WHERE FALSE
