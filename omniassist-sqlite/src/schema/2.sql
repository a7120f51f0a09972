-- The last run of a conversation that has neither a live nor a queued one.
create index run_ended on run (conversation, number) where state > 3;

-- The oldest version of the tables whose programs can use them as they are now: the greatest of all rows. A migration that
-- removes what an older version needs raises it.
alter table schema_version add column usable_from integer not null default 1;
