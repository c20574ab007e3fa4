-- Full text on PostgreSQL, see postgres_search.py.

-- name: add_postings
INSERT INTO word_postings (user_id, source, term, doc, frequency, size)
SELECT :user, CAST(:source AS smallint), p.term, p.doc, p.frequency, p.size
FROM unnest(CAST(:words AS text[]), CAST(:numbers AS bigint[]), CAST(:frequencies AS bigint[]), CAST(:sizes AS bigint[]))
    AS p (term, doc, frequency, size)

-- name: remove_postings
DELETE FROM word_postings WHERE user_id = :user AND source = :source AND doc = :doc AND term = ANY(:words)

-- name: add_to_word_totals
INSERT INTO word_totals (user_id, source, documents, terms) VALUES (:user, :source, :documents, :terms)
ON CONFLICT (user_id, source) DO UPDATE SET documents = word_totals.documents + excluded.documents,
    terms = word_totals.terms + excluded.terms

-- name: word_totals
SELECT documents, terms FROM word_totals WHERE user_id = :user AND source = :source

-- name: postings_of_term
SELECT doc, frequency, size FROM word_postings WHERE user_id = :user AND source = :source AND term = :term

-- name: postings_of_terms
SELECT doc, sum(frequency), max(size) FROM word_postings
WHERE user_id = :user AND source = :source AND term >= :from AND term < :to GROUP BY doc

-- name: count_postings
SELECT count(*) FROM word_postings WHERE user_id = :user AND source = :source AND term = :term

-- name: terms_between
SELECT term, count(*) FROM word_postings
WHERE user_id = :user AND source = :source AND term >= :from AND term < :to GROUP BY term ORDER BY term LIMIT :limit

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
