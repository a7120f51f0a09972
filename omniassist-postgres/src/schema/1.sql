-- Ids of runs and instances are UUIDs. Content is `bytea`, since `jsonb` refuses NUL and changes numbers. In texts, the
-- characters U+0000 and U+001A are escaped: U+001A followed by 0 or 1.

create table omniassist.schema_version (
    version integer primary key,
    applied_at timestamptz not null default now()
);

create table omniassist.conversation (
    id bigint generated always as identity primary key,
    owner text collate "C" not null,
    chat text collate "C" not null,
    title text,
    head text,
    version integer not null default 0,
    meta bytea,
    -- The wrapped key of the content. Null: the content is not encrypted, or was deleted.
    key bytea,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- A tombstone has a time here, and neither messages nor runs.
    deleted_at timestamptz,
    unique (owner, chat)
);
create index conversation_list on omniassist.conversation (owner, updated_at, id) where deleted_at is null;
create index conversation_idle on omniassist.conversation (updated_at) where deleted_at is null;
create index conversation_deleted on omniassist.conversation (deleted_at) where deleted_at is not null;

create table omniassist.message (
    conversation bigint not null references omniassist.conversation on delete cascade,
    id text collate "C" not null,
    -- The order in which the messages of a conversation were saved.
    number bigint generated always as identity,
    parent text collate "C",
    body bytea not null,
    created_at timestamptz not null default now(),
    primary key (conversation, id)
);

create table omniassist.run (
    id uuid primary key,
    -- The order in which the runs of a conversation began or were queued.
    number bigint generated always as identity,
    conversation bigint not null references omniassist.conversation on delete cascade,
    -- 1 queued, 2 running, 3 waiting, 4 finished, 5 failed, 6 stopped, 7 interrupted
    state smallint not null,
    epoch integer not null,
    instance uuid,
    post bytea,
    -- Null when the journal was swept.
    input bytea,
    stop boolean not null default false,
    signals integer not null default 0,
    watched_until timestamptz,
    due_at timestamptz,
    usage bytea,
    created_at timestamptz not null default now(),
    ended_at timestamptz
) with (fillfactor = 70);
create unique index run_live on omniassist.run (conversation) where state in (2, 3);
create index run_conversation on omniassist.run (conversation, number);
create index run_queued on omniassist.run (conversation, number) where state = 1;
create index run_driven on omniassist.run (instance) where state = 2;
create index run_due on omniassist.run (due_at) where state = 3;
create index run_journal on omniassist.run (ended_at) where ended_at is not null and input is not null;

-- The primary key is the fence: two writers cannot insert one position.
create table omniassist.segment (
    run uuid not null references omniassist.run on delete cascade,
    pos integer not null,
    epoch integer not null,
    writer uuid not null,
    -- 0 text, 1 consequence, 2 takeover, 3 end, 4 handover
    kind smallint not null,
    events integer not null,
    data bytea not null,
    primary key (run, pos)
);

create table omniassist.signal (
    run uuid not null references omniassist.run on delete cascade,
    key text collate "C" not null,
    number integer not null,
    data bytea not null,
    sender text not null,
    received_at timestamptz not null default now(),
    primary key (run, key)
);

-- A question is answered by the signal with the key 'answer:' and its call.
create table omniassist.obligation (
    run uuid not null references omniassist.run on delete cascade,
    call text collate "C" not null,
    place integer not null,
    data bytea not null,
    expires_at timestamptz,
    primary key (run, call)
);

create table omniassist.instance (
    id uuid primary key,
    expires_at timestamptz not null
);

create table omniassist.usage_day (
    -- The number of days since 1970, in UTC: date '1970-01-01' + day.
    day integer not null,
    owner text collate "C" not null,
    model text collate "C" not null,
    runs bigint not null,
    calls bigint not null,
    unpriced_calls bigint not null,
    input_tokens bigint not null,
    cached_input_tokens bigint not null,
    cache_write_input_tokens bigint not null,
    output_tokens bigint not null,
    reasoning_tokens bigint not null,
    -- Billionths of the currency.
    cost_nano bigint not null,
    primary key (day, owner, model)
);
create index usage_owner on omniassist.usage_day (owner, day, model);

create table omniassist.budget (
    account text collate "C" not null,
    -- As in `usage_day`.
    day integer not null,
    spent bigint not null,
    primary key (account, day)
);
create index budget_day on omniassist.budget (day);

create table omniassist.reservation (
    id text collate "C" primary key,
    account text collate "C" not null,
    tokens bigint not null,
    expires_at timestamptz not null
);
create index reservation_account on omniassist.reservation (account, expires_at);
create index reservation_expired on omniassist.reservation (expires_at);

create table omniassist.rate (
    key text collate "C" primary key,
    -- The time at which the whole burst is there again.
    full_at timestamptz not null
);
create index rate_full on omniassist.rate (full_at);

create table omniassist.used_approval (
    key text collate "C" primary key,
    expires_at timestamptz not null
);
create index used_approval_expired on omniassist.used_approval (expires_at);

insert into omniassist.schema_version (version) values (1);
