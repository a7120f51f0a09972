//! Server-sent events, in both directions and without I/O.
