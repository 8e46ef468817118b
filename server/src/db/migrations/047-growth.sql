-- What ends by its time and was kept for ever is removed, oldest first.
CREATE INDEX tokens_by_expiry ON tokens (expires_time) WHERE expires_time IS NOT NULL;
CREATE INDEX call_permission_requests_by_time ON call_permission_requests (sent_time);
-- Whether a user without a chat is still in a group.
CREATE INDEX group_participants_by_user ON group_participants (user_wa_id);
