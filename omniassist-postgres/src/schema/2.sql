-- The runs that a post began.
create index run_post on omniassist.run (conversation, post, number) where post is not null;

-- The oldest version of the tables whose programs can use them as they are now: the greatest of all rows. A migration that
-- removes what an older version needs raises it.
alter table omniassist.schema_version add column usable_from integer not null default 1;

insert into omniassist.schema_version (version) values (2);
