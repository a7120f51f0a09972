//! Figures for planning: what one server, one database, and a database with Redis carry, and how to go on from there.
//!
//! # Measured
//!
//! `cargo run --release -p omniassist-benches --features postgres -- postgres` measures this. The machine had two cores of a
//! virtual machine, shared by the database, the server, the model and the clients, so a real server carries more.
//!
//! | what | figure |
//! |---|---|
//! | 500 answers of 50 tokens a second: processor time of the server for a token | 26.2 µs, and 21.7 µs without a store |
//! | the same: commits of text, p50 and p99 | 25 a second, 6 and 31 ms |
//! | the same: cores of the database, write-ahead log | 0.14, 2.2 MB/s |
//! | 2,000 answers of 4 tokens a second: commits of text, p50 and p99 | 11 and 34 ms |
//! | 8,000 answers of 1 token a second: commits of text, p50 and p99 | 13 and 36 ms |
//! | a run that begins: processor time of the database | 1.1 ms |
//! | the text of an answer in 100 ms: processor time of the database | 20 µs |
//! | a token at another server, p50, by notifications | 39 ms |
//! | a token at another server, p50, by Redis | 12 ms |
//! | a row and a notification for each token instead, 500 answers: tokens that are written in time | 54 % |
//!
//! One server takes 1,000 posts at the same moment. Of 2,000, a fifth waits for the database for longer than the
//! [timeout](crate::PostgresOptions::timeout), and is refused with 503 and `Retry-After` before a model is called. Posts that
//! are refused cost nothing, and running answers go on.
//!
//! # One database, then cells
//!
//! The work of the database grows with posts and with live answers, not with tokens: the text of 100 ms is one row of an
//! answer, and the rows of a server are one statement. `cargo xtask scale-model` simulates this with the measured costs. Users
//! post five times a day, 12 % of that in the busiest hour, and an answer has 400 tokens in 8 s. A database has 8 cores, of
//! which 60 % may be busy:
//!
//! | users a day | posts a second | live answers | databases | servers of 2 cores | log | servers and databases for 1,000 conversations |
//! |---|---|---|---|---|---|---|
//! | 10,000 | 2 | 22 | 1 | 2 | 0.1 MB/s | $ 1.16 |
//! | 100,000 | 17 | 143 | 1 | 2 | 0.6 MB/s | $ 0.12 |
//! | 1,000,000 | 167 | 1,364 | 1 | 2 | 5.7 MB/s | $ 0.01 |
//! | 10,000,000 | 1,667 | 13,628 | 2 | 18 | 57 MB/s | $ 0.01 |
//! | 50,000,000 | 8,333 | 67,410 | 7 | 84 | 287 MB/s | $ 0.01 |
//!
//! The prices are $ 0.05 for an hour of a core and $ 0.12 for a gigabyte and month. One database carries 1,200 posts a second,
//! with 99 of 100 runs begun within 7 ms.
//!
//! Beyond one database, divide conversations into cells: a cell is a database and the servers that use it, and the load
//! balancer chooses the cell by a hash of the chat or of the tenant. Nothing is shared between cells, so each step of growth is
//! another cell, and the loss of one database concerns its cell only. A list of chats is that of one owner: choose the cell by
//! the owner if pages show it.
//!
//! Within a cell, no partitions are needed: journals are deleted an hour after their end, so the tables that grow are those of
//! conversations, messages and runs. They are as large as what is kept: 1.1 KB a message, and for each post a row of its run,
//! which is small after that hour. Queries read such rows by an index. They are deleted with their conversation, and
//! [`Retention`](omniassist_server::store::Retention) bounds it. The log of 40 MB/s at the most is what replication and backups
//! have to carry.
//!
//! Redis is worth its place from about 1,000 streams on that are watched at other servers: it takes their text off the
//! database, and brings it in some milliseconds. Sticky sessions at the load balancer do the same without it.
//!
//! # What the model does not say
//!
//! It has no autovacuum, no backups and no other load. Its costs are those of one kind of machine, and it does not know the
//! price of the model, which is 100 to 1,000 times that of the servers.
