-- The span that an event or a timer comes from, so that a webhook hangs below the request that raised its event, in whichever process it is sent.

-- The end of a traceparent: the id of the span and its flags, such as 00f067aa0ba902b7-01; null: nobody exports spans, or raised by an earlier version.
ALTER TABLE events ADD COLUMN span TEXT;
ALTER TABLE timers ADD COLUMN span TEXT;
