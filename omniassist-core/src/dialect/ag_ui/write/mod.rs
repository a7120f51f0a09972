//! Responses: conversion of a run's events into AG-UI events.

mod agents;
mod calls;
mod copy;
mod encoder;
mod events;
mod frame;
mod outcome;
mod patch;
mod snapshot;
mod view;

pub(super) use encoder::Continuation;
pub use encoder::{Encoder, HEADERS};
pub use outcome::timestamp;
