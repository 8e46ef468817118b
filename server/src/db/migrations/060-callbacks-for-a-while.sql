-- Where an app hears of one number for a while: in front of every other callback, which stay as they are; null: not now.
ALTER TABLE phone_number_callbacks ADD COLUMN temporary_callback_uri TEXT;
