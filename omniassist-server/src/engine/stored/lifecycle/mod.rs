//! Stored runs after their post: they go on, are read again, and are stopped.

mod agents;
mod elsewhere;
mod go_on;
mod last_leg;
mod resume;
mod stop;
