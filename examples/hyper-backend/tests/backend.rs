//! Tests of the backend as a separate process.

const BINARY: &str = env!("CARGO_BIN_EXE_hyper-backend");

#[test]
fn the_backend_still_works_and_serves_an_assistant() {
    omniassist_backend_suite::behaves(BINARY);
}

#[test]
fn the_backend_serves_http2() {
    omniassist_backend_suite::speaks_http2(BINARY);
}

#[test]
fn every_client_of_a_stopped_backend_gets_an_error() {
    omniassist_backend_suite::tells_every_client(BINARY);
}
