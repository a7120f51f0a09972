//! Responses: conversion of a run's events into AG-UI events.

mod calls;
mod encoder;
mod events;
mod frame;
mod outcome;
mod patch;
mod view;

pub(super) use encoder::Continuation;
pub use encoder::{Encoder, HEADERS};
