-- What is kept of messages, and for how long.

-- Events whose values still hold what messages say, oldest first: they are emptied when the contents of messages go.
CREATE INDEX events_with_contents ON events (created_time, id) WHERE field = 'messages' AND value <> '';

-- What waits in a conversation, in any lane: the content of an incoming message may go when nothing does. The order within a lane is
-- found by the same index.
DROP INDEX deliveries_in_order;
CREATE INDEX deliveries_in_order ON deliveries (conversation, lane_id, id) WHERE state = 'waiting';

-- What the stream of users tells, in order, by ids alone: it shows of a message what is still kept. Written while somebody listens, and
-- for as long afterwards as a listener may come back.
CREATE TABLE stream_events (
  position ORDERED_ID,
  type TEXT NOT NULL,
  phone_number_id TEXT NOT NULL,
  user_wa_id TEXT,
  group_id TEXT,
  message_id TEXT,
  data TEXT,
  created_time BIGINT NOT NULL
);
CREATE INDEX stream_events_by_time ON stream_events (created_time, position);

-- Until when the events of a stream are recorded.
CREATE TABLE wanted_streams (
  name TEXT PRIMARY KEY,
  wanted_until BIGINT NOT NULL
);
