-- The index of words holds keyed hashes of them. So what is removed can stay in its pages until they are merged, and need not be looked for: removing the words themselves took a millisecond a message. A row is removed by its number alone.
ON_SQLITE DROP TRIGGER message_words_gone;
ON_SQLITE DROP TABLE message_words;
ON_SQLITE CREATE VIRTUAL TABLE message_words USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
ON_SQLITE INSERT INTO message_words (message_words, rank) VALUES ('automerge', 0), ('crisismerge', 1999);
-- By which key the index was written: with another one it is filled anew.
ON_SQLITE ALTER TABLE message_words_end ADD COLUMN key_check TEXT;
ON_SQLITE UPDATE message_words_end SET last_rowid = 0;
ON_SQLITE CREATE TRIGGER message_words_gone AFTER DELETE ON message_contents BEGIN DELETE FROM message_words WHERE rowid = OLD.rowid; UPDATE message_words_end SET last_rowid = COALESCE((SELECT MAX(rowid) FROM message_contents), 0) WHERE last_rowid > COALESCE((SELECT MAX(rowid) FROM message_contents), 0); END;
