-- name: note_files
SELECT root, path, stamp, modified_at, content_hash, user_id, row_hash FROM note_files WHERE user_id = :user

-- name: put_note_file
INSERT INTO note_files (user_id, root, path, stamp, modified_at, content_hash, row_hash)
VALUES (:user, :root, :path, :stamp, :modified_at, :content_hash, :row_hash)

-- name: restamp_note_file
UPDATE note_files SET stamp = :stamp, modified_at = :modified_at
WHERE user_id = :user AND root = :root AND path = :path

-- name: delete_note_file
DELETE FROM note_files WHERE user_id = :user AND root = :root AND path = :path

-- name: insert_note_section
INSERT INTO note_sections (user_id, doc, root, path, part, heading, first_line, last_line, content, tokens, row_hash)
VALUES (:user, :doc, :root, :path, :part, :heading, :first_line, :last_line, :content, :tokens, :row_hash)

-- part: note_section
SELECT s.doc, s.root, s.path, s.heading, s.first_line, s.last_line, s.content, s.tokens, s.part,
    s.user_id, s.row_hash
FROM note_sections AS s

-- name: note_sections_of
{note_section}
WHERE s.user_id = :user AND s.root = :root AND s.path = :path ORDER BY s.part

-- name: all_note_sections
{note_section}
WHERE s.user_id = :user ORDER BY s.doc

-- name: note_sections_by_doc
{note_section}
WHERE s.user_id = :user AND s.doc IN (SELECT value FROM json_each(:docs))

-- name: like_notes
SELECT doc FROM note_sections
WHERE user_id = :user AND content LIKE :pattern ESCAPE '\' ORDER BY doc LIMIT :limit

-- name: note_paths
SELECT doc, path FROM note_sections WHERE user_id = :user

-- name: count_note_sections
SELECT count(*) FROM note_sections WHERE user_id = :user

-- name: delete_notes
DELETE FROM note_files WHERE user_id = :user
