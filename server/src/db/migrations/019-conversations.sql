-- Deliveries keep their order within a conversation, and lanes say when there is something to do for them.

-- What a delivery is in order with: a number and a user, a call, a group, a template, or an account. What waited when this came
-- stays in order within its account.
ALTER TABLE deliveries ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
UPDATE deliveries SET conversation = 'account/' || account_id WHERE state = 'waiting';

-- When there is something to do for a lane: the later of its pause and its first due time; null when nothing waits.
ALTER TABLE lanes ADD COLUMN next_due BIGINT;
UPDATE lanes SET next_due = (
  SELECT MIN(due_time) FROM deliveries WHERE deliveries.lane_id = lanes.id AND deliveries.state = 'waiting'
);
UPDATE lanes SET next_due = paused_until WHERE next_due < paused_until;
CREATE INDEX lanes_due ON lanes (next_due, id) WHERE next_due IS NOT NULL;
-- Subscribers that are down, for the metrics.
CREATE INDEX lanes_down ON lanes (failures) WHERE failures >= 3;

-- What is due in a lane, in the order of becoming due; and whether anything refers to a lane.
CREATE INDEX deliveries_by_lane ON deliveries (lane_id, state, due_time, id);
-- What waits before a delivery in its conversation.
CREATE INDEX deliveries_in_order ON deliveries (lane_id, conversation, id) WHERE state = 'waiting';
DROP INDEX deliveries_waiting;
