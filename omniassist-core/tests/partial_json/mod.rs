//! Tests of the parser of growing JSON.

mod generated;
mod random_json;
mod rules;
