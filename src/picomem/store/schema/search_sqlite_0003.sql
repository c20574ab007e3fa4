-- Full text of notes on SQLite; see search_sqlite.sql.
CREATE VIRTUAL TABLE note_words USING fts5 (name, body, content = '', tokenize = 'ascii');
INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_words, 'row');
