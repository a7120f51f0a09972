//! Formatting, clippy and documentation; each warning is an error. Also the oldest version of `rusqlite`.

use crate::process::run as execute;
use crate::report::Report;
use crate::sqlite_range;
use crate::workspace::cargo;

const DENY: [&str; 3] = ["--", "-D", "warnings"];

pub(crate) fn run(report: &mut Report) {
    report.step("rustfmt", || execute(&mut cargo(&["fmt", "--all", "--check"])));
    let clippy =
        |arguments: &[&str]| execute(&mut cargo(&[&["clippy", "--locked"], arguments, &DENY].concat()));
    report.step("clippy", || {
        clippy(&["--workspace", "--all-targets"])?;
        // The other features are those of the workspace, so that few crates are checked again.
        clippy(&["--workspace", "--all-targets", "--features", "omniassist-benches/store"])?;
        clippy(&["-p", "omniassist-core", "--all-targets", "--all-features"])?;
        clippy(&["-p", "omniassist-mcp", "--all-targets", "--all-features"])?;
        clippy(&["-p", "omniassist-server", "--all-targets", "--all-features"])?;
        // Without TLS, each provider alone, and each kind of TLS. The workspace covers the default one.
        for features in
            ["", "openai", "anthropic", "gemini", "openai,tls-ring", "openai,native-tls", "testing"]
        {
            clippy(&["-p", "omniassist-server", "--no-default-features", "--features", features])?;
        }
        clippy(&["-p", "omniassist-axum", "--no-default-features"])
    });
    report.step("the oldest rusqlite, beside sqlx", sqlite_range::check);
    report.step("rustdoc", || {
        let doc = ["doc", "--locked", "--workspace", "--no-deps", "--all-features"];
        execute(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))
    });
}
