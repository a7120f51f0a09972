-- A file of the first version. It never changes.

create table schema_version (
    version integer primary key,
    applied_at integer not null
) strict;

create table conversation (
    id integer primary key,
    owner text not null,
    chat text not null,
    title text,
    head text,
    version integer not null default 0,
    meta blob,
    key blob,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer,
    unique (owner, chat)
) strict;
create index conversation_list on conversation (owner, updated_at, id) where deleted_at is null;
create index conversation_idle on conversation (updated_at) where deleted_at is null;
create index conversation_deleted on conversation (deleted_at) where deleted_at is not null;

create table message (
    number integer primary key,
    conversation integer not null references conversation on delete cascade,
    id text not null,
    parent text,
    body blob not null,
    created_at integer not null,
    unique (conversation, id)
) strict;

create table run (
    number integer primary key,
    id blob not null unique,
    conversation integer not null references conversation on delete cascade,
    state integer not null,
    epoch integer not null,
    instance blob,
    post blob,
    input blob,
    stop integer not null default 0,
    signals integer not null default 0,
    watched_until integer not null default 0,
    due_at integer,
    usage blob,
    created_at integer not null,
    ended_at integer
) strict;
create unique index run_live on run (conversation) where state in (2, 3);
create index run_conversation on run (conversation, post);
create index run_queued on run (conversation, number) where state = 1;
create index run_driven on run (instance) where state = 2;
create index run_due on run (due_at) where state = 3;
create index run_journal on run (ended_at) where ended_at is not null and input is not null;

create table segment (
    run integer not null references run on delete cascade,
    pos integer not null,
    epoch integer not null,
    writer blob not null,
    kind integer not null,
    events integer not null,
    data blob not null,
    unique (run, pos)
) strict;

create table signal (
    run integer not null references run on delete cascade,
    key text not null,
    number integer not null,
    data blob not null,
    sender text not null,
    received_at integer not null,
    primary key (run, key)
) strict, without rowid;

create table obligation (
    run integer not null references run on delete cascade,
    call text not null,
    place integer not null,
    data blob not null,
    expires_at integer,
    primary key (run, call)
) strict, without rowid;

create table instance (
    id blob primary key,
    expires_at integer not null
) strict, without rowid;

create table usage_day (
    day integer not null,
    owner text not null,
    model text not null,
    runs integer not null,
    calls integer not null,
    unpriced_calls integer not null,
    input_tokens integer not null,
    cached_input_tokens integer not null,
    cache_write_input_tokens integer not null,
    output_tokens integer not null,
    reasoning_tokens integer not null,
    cost_nano integer not null,
    primary key (day, owner, model)
) strict, without rowid;
create index usage_owner on usage_day (owner, day, model);

create table budget (
    account text not null,
    day integer not null,
    spent integer not null,
    primary key (account, day)
) strict, without rowid;
create index budget_day on budget (day);

create table reservation (
    id text primary key,
    account text not null,
    tokens integer not null,
    expires_at integer not null
) strict, without rowid;
create index reservation_account on reservation (account, expires_at);
create index reservation_expired on reservation (expires_at);

insert into schema_version (version, applied_at) values (1, 1795449600000);

insert into conversation (id, owner, chat, title, head, version, meta, key, created_at, updated_at, deleted_at) values
    (1, 'alice', 'ended', 'Order 17', 'a1', 3, x'7b7d', x'00ff', 1795449600000, 1795449603000, null),
    (2, 'alice', 'waiting', null, 'u1', 1, null, null, 1795449600000, 1795449602000, null),
    (3, 'alice', 'running', null, 'u1', 1, null, null, 1795449600000, 1795449601000, null),
    (4, 'alice', 'deleted', null, null, 0, null, null, 1795449600000, 1795449600000, 1795449604000),
    (5, 'bob', 'ended', null, null, 1, null, null, 1795449600000, 1795449600000, null);

-- The body of 'a1' holds a byte that is no text.
insert into message (number, conversation, id, parent, body, created_at) values
    (1, 1, 'u1', null, cast('Where is it?' as blob), 1795449600000),
    (2, 1, 'a1', 'u1', x'00ff', 1795449603000),
    (3, 1, 'a2', 'u1', cast('On its way.' as blob), 1795449603000),
    (4, 2, 'u1', null, cast('Cancel it.' as blob), 1795449600000),
    (5, 3, 'u1', null, cast('Hello' as blob), 1795449600000);

-- A finished run, a waiting one, a running one, and a queued one behind it.
insert into run (number, id, conversation, state, epoch, instance, post, input, stop, signals, watched_until, due_at, usage,
    created_at, ended_at) values
    (1, x'00000000000000000000000000000001', 1, 4, 1, null, x'01', cast('input 1' as blob), 0, 0, 0, null, cast('usage 1' as blob), 1795449600000, 1795449603000),
    (2, x'00000000000000000000000000000002', 2, 3, 1, null, null, cast('input 2' as blob), 0, 1, 0, 4102444800000, null, 1795449600000, null),
    (3, x'00000000000000000000000000000003', 3, 2, 2, x'00000000000000000000000000000009', null, cast('input 3' as blob), 0, 1, 0, null, null, 1795449600000, null),
    (4, x'00000000000000000000000000000004', 3, 1, 0, null, null, cast('input 4' as blob), 0, 0, 0, null, null, 1795449600000, null);

insert into segment (run, pos, epoch, writer, kind, events, data) values
    (1, 1, 1, x'00000000000000000000000000000009', 1, 2, cast('first' as blob)),
    (1, 2, 1, x'00000000000000000000000000000009', 0, 5, x'00ff'),
    (1, 3, 1, x'00000000000000000000000000000009', 3, 7, cast('last' as blob)),
    (2, 1, 1, x'00000000000000000000000000000009', 1, 2, cast('call' as blob)),
    (3, 1, 1, x'00000000000000000000000000000008', 1, 1, cast('first' as blob)),
    (3, 2, 2, x'00000000000000000000000000000009', 2, 1, x''),
    (4, 1, 0, x'00000000000000000000000000000009', 1, 0, x'');

-- The signal 'later:x' is of a version that does not exist yet.
insert into signal (run, key, number, data, sender, received_at) values
    (2, 'answer:call-1', 1, cast('yes' as blob), 'alice', 1795449602000),
    (3, 'later:x', 1, x'', 'alice', 1795449602000);

insert into obligation (run, call, place, data, expires_at) values
    (2, 'call-1', 0, cast('Cancel?' as blob), null),
    (2, 'call-2', 1, cast('Refund?' as blob), 4102444800000);

insert into instance (id, expires_at) values (x'00000000000000000000000000000009', 1795449606000);
