CREATE INDEX run_ended on run (conversation, number) where state > 3;
insert into schema_version (version, applied_at) values (2, 1795449600000);
