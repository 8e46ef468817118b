-- How many messages a user has not read is counted by an index alone, without looking at the messages.

-- What users have got and not read, chat by chat; messages of groups have a row for each participant instead.
CREATE INDEX messages_unread_by_chat ON messages (chat_id) WHERE direction = 'to_user' AND state = 'delivered' AND group_id IS NULL;
