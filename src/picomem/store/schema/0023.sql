-- Which candidates were refused, and how many changes there are of each decision, from the index alone.
DROP INDEX changes_content;
CREATE INDEX changes_content ON changes (user_id, decision, content_hash);
