-- Whether a lane has a note already, without reading the notes of all others.
CREATE INDEX lane_wakes_by_lane ON lane_wakes (lane_id);
