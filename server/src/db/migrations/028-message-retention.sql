-- What is kept of messages, and for how long.

-- Events whose values still hold what messages say, oldest first: they are emptied when the contents of messages go.
CREATE INDEX events_with_contents ON events (created_time, id) WHERE field = 'messages' AND value <> '';

-- What waits in a conversation, in any lane: the content of an incoming message may go when nothing does. The order within a lane is
-- found by the same index.
DROP INDEX deliveries_in_order;
CREATE INDEX deliveries_in_order ON deliveries (conversation, lane_id, id) WHERE state = 'waiting';
