-- Whether a callback still leads down a lane: lanes that nobody uses any more are swept.

CREATE INDEX subscribed_apps_by_override ON subscribed_apps (app_id, override_callback_uri)
WHERE override_callback_uri IS NOT NULL;
CREATE INDEX phone_number_callbacks_by_override ON phone_number_callbacks (app_id, override_callback_uri)
WHERE override_callback_uri IS NOT NULL;
CREATE INDEX phone_number_callbacks_by_webhook_url ON phone_number_callbacks (app_id, webhook_url)
WHERE webhook_url IS NOT NULL;
