//! Tests of the compiler's messages for functions that are not tools.
//!
//! The expected messages are those of the stable toolchain of the repository. After an update of the toolchain, check
//! the differences and update the files with `TRYBUILD=overwrite cargo test -p omniassist-compile-errors`.

#[test]
fn compile_errors_explain_the_problem() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
