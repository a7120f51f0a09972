//! Tests of the compiler's messages for functions that are not tools.
//!
//! The expected texts are those of the stable toolchain that the repository is developed with; after an update of it,
//! look at the differences and rewrite them with `TRYBUILD=overwrite cargo test -p omniassist-server --test server`.

#[test]
fn compile_errors_help() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
