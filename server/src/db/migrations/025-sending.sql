-- Sending templates: what a number has sent lately.

-- The templates of a chat by time, for the limit of marketing messages to one user.
CREATE INDEX messages_templates ON messages (chat_id, created_time) WHERE type = 'template';
