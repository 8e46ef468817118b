-- Lanes that are due although nobody could say so in their rows.

-- A lane that got a delivery while somebody else had locked its row. Raising an event does not wait for that: it notes the lane here,
-- and the next poll makes the lane due, or makes it anew if it was removed meanwhile.
CREATE TABLE lane_wakes (
  id ORDERED_ID,
  lane_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  callback_url TEXT NOT NULL,
  due_time BIGINT NOT NULL
);

-- PostgreSQL locked the row of the lane for each delivery that was stored, and so waited for whoever had locked it.
ON_POSTGRESQL ALTER TABLE deliveries DROP CONSTRAINT deliveries_lane_id_fkey;
