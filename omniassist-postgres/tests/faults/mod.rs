//! Failures of the database, of its disk, and of the pooler before it.

mod commit;
mod database;
mod disk;
mod shop;
