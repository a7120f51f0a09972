-- The runs that a post began.
create index run_post on omniassist.run (conversation, post, number) where post is not null;

insert into omniassist.schema_version (version) values (2);
