-- Whether a callback for a while leads down a lane.
CONCURRENTLY CREATE INDEX phone_number_callbacks_by_temporary ON phone_number_callbacks (app_id, temporary_callback_uri) WHERE temporary_callback_uri IS NOT NULL;
