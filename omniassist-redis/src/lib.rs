//! Redis and Valkey for the servers of an [OmniAssist](omniassist_server) assistant. They share the text of running answers,
//! rate limits and token budgets.
//!
//! - [`RedisTail`] is a layer above a store. A page that is connected to another server than the one that writes its answer
//!   gets the text within some milliseconds, and the store has fewer reads and writes.
//! - [`RedisRateLimit`] limits how often each principal begins runs, on all servers together.
//! - [`RedisTokenBudget`] limits the tokens of each principal, on all servers together.
//!
//! Redis keeps nothing that is needed later. Conversations and runs stay in the store, and each key of this crate expires.
//!
//! ```
//! use std::time::Duration;
//!
//! use omniassist_redis::{Redis, RedisRateLimit, RedisTail, RedisTokenBudget};
//! use omniassist_server::Assistant;
//! use omniassist_server::store::MemoryStore; // or a `PostgresStore`
//! # use omniassist_server::testing::ScriptedProvider;
//!
//! let redis = Redis::connect("redis://127.0.0.1:6379")?;
//! let day = Duration::from_secs(24 * 60 * 60);
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .store(RedisTail::new(MemoryStore::new(), &redis))
//!     .rate_limit(RedisRateLimit::per_minute(&redis, "runs", 20))
//!     .token_budget(RedisTokenBudget::new(&redis, "tokens", 200_000, day))
//!     .build()?;
//! # let _ = assistant;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Without Redis
//!
//! A server starts and works without a connection, and connects again by itself. Meanwhile text reaches other servers by
//! the store, some tenths of a second later. A limit that cannot be checked refuses, unless
//! [`RedisRateLimit::if_unavailable`] or [`RedisTokenBudget::if_unavailable`] allows it. An outage of the text is logged once.
//!
//! # Servers
//!
//! Redis 6.2 or later, or Valkey. A replica cannot be used, since each server writes. A cluster can be used by the address
//! of the node that has the slot of the prefix: [`Redis::prefix`] with a hash tag such as `{shop}` puts all keys into one.
//! Whoever can write to Redis can change the text that other servers show, and the limits: protect it like the database.
//!
//! With `encryption::Encrypted` around it, the text in Redis is encrypted:
//! `Encrypted::new(RedisTail::new(store, &redis), keys)`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod budget;
mod entry;
mod exchange;
mod health;
mod link;
mod rate;
mod reader;
mod server;
mod shared;
mod sync;
mod tail;
mod writer;

pub use budget::RedisTokenBudget;
pub use rate::RedisRateLimit;
pub use server::Redis;
pub use tail::RedisTail;
