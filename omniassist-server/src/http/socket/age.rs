use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use omniassist_core::Limits;
use tokio::time::{Instant, Sleep, sleep};

/// The times after which a connection without agents ends.
pub(super) struct Age {
    idle_timeout: Duration,
    idle: Pin<Box<Sleep>>,
    life: Pin<Box<Sleep>>,
}

impl Age {
    pub(super) fn new(limits: &Limits) -> Self {
        let Limits { socket_idle_timeout: idle_timeout, socket_lifetime, .. } = *limits;
        Self { idle_timeout, idle: Box::pin(sleep(idle_timeout)), life: Box::pin(sleep(socket_lifetime)) }
    }

    /// Begins the idle time anew.
    pub(super) fn touch(&mut self) {
        if let Some(until) = Instant::now().checked_add(self.idle_timeout) {
            self.idle.as_mut().reset(until);
        }
    }

    /// Returns `true` if the connection has reached its longest life, and wakes this task when that happens.
    pub(super) fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        self.life.as_mut().poll(cx).is_ready()
    }

    /// Returns `true` if nothing has happened for too long, and wakes this task when that happens.
    pub(super) fn is_idle(&mut self, cx: &mut Context<'_>) -> bool {
        self.idle.as_mut().poll(cx).is_ready()
    }
}
