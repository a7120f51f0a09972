//! The backend as a process that is told to stop.

#[test]
fn a_backend_that_is_stopped_tells_every_client() {
    omniassist_shutdown_suite::tells_every_client(env!("CARGO_BIN_EXE_tower-backend"));
}
