CREATE INDEX run_ended on run (conversation, number) where state > 3;
alter table schema_version add column usable_from integer not null default 1;
insert into schema_version (version, applied_at) values (2, 1795449600000);
