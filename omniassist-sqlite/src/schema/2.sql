-- The last run of a conversation that has neither a live nor a queued one.
create index run_ended on run (conversation, number) where state > 3;
