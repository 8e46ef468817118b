-- What was removed goes with the merges of what is new, each of which is bounded. A merge because much was removed reads the whole index at once: it held every write for 340 ms with 250,000 messages.
ON_SQLITE INSERT INTO message_words (message_words, rank) VALUES ('deletemerge', 0);
