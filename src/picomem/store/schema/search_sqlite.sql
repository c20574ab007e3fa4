-- Full text on SQLite. The tables are contentless: they hold postings, the rows of other tables hold the text. A
-- posting is an owner's token followed by a term (see text/terms.py), so a query reads the postings of one user and no
-- other.
CREATE VIRTUAL TABLE memory_words USING fts5 (name, body, content = '', tokenize = 'ascii');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_words, 'row');

CREATE VIRTUAL TABLE episode_words USING fts5 (body, content = '', tokenize = 'ascii');
INSERT INTO episode_words (episode_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE episode_vocabulary USING fts5vocab (episode_words, 'row');

CREATE VIRTUAL TABLE note_words USING fts5 (name, body, content = '', tokenize = 'ascii');
INSERT INTO note_words (note_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE note_vocabulary USING fts5vocab (note_words, 'row');
