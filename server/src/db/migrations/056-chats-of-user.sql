-- The chats of a user. Every message changes the time of its chat: an index that holds the time is written each time, and with it every
-- other index of chats. A user has few chats, which are put in order when they are listed.
CONCURRENTLY CREATE INDEX chats_of_user ON chats (user_wa_id) WHERE user_wa_id IS NOT NULL;
