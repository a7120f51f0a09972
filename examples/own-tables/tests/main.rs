//! The tables pass the suite for stores of conversations, and keep what an assistant writes, also when it is killed.
#![allow(clippy::expect_used, reason = "that is how a test fails")]

mod killed;
mod tables;
