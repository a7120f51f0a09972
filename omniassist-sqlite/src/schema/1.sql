-- Ids of runs and instances are UUIDs of 16 bytes. Times are milliseconds since 1970.

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
    -- The wrapped key of the content. Null: the content is not encrypted, or was deleted.
    key blob,
    created_at integer not null,
    updated_at integer not null,
    -- A tombstone has a time here, and neither messages nor runs.
    deleted_at integer,
    unique (owner, chat)
) strict;
create index conversation_list on conversation (owner, updated_at, id) where deleted_at is null;
create index conversation_idle on conversation (updated_at) where deleted_at is null;
create index conversation_deleted on conversation (deleted_at) where deleted_at is not null;

-- With a rowid: long rows take less room than in a table without one.
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
    -- 1 queued, 2 running, 3 waiting, 4 finished, 5 failed, 6 stopped, 7 interrupted
    state integer not null,
    epoch integer not null,
    instance blob,
    post blob,
    -- Null when the journal was swept.
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

-- With a rowid: the text that runs write in one commit is on the same pages.
create table segment (
    run integer not null references run on delete cascade,
    pos integer not null,
    epoch integer not null,
    writer blob not null,
    -- 0 text, 1 consequence, 2 takeover, 3 end, 4 handover
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

-- A question is answered by the signal with the key 'answer:' and its call.
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
    -- The number of days since 1970, in UTC: date(day * 86400, 'unixepoch').
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
    -- Billionths of the currency.
    cost_nano integer not null,
    primary key (day, owner, model)
) strict, without rowid;
create index usage_owner on usage_day (owner, day, model);

create table budget (
    account text not null,
    -- As in `usage_day`.
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
