//! The backend as a process of its own.

const BINARY: &str = env!("CARGO_BIN_EXE_hyper-backend");

#[test]
fn it_does_what_it_did_and_has_an_assistant() {
    omniassist_backend_suite::behaves(BINARY);
}

#[test]
fn it_speaks_http2() {
    omniassist_backend_suite::speaks_http2(BINARY);
}

#[test]
fn a_backend_that_is_stopped_tells_every_client() {
    omniassist_backend_suite::tells_every_client(BINARY);
}
