//! Requests: conversion of a `RunAgentInput` into a [`RunRequest`](crate::RunRequest).

mod content;
mod conversation;
mod request;
mod resume;
mod tool_calls;

pub use request::{Posted, read_connect, read_request};
