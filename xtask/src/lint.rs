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
        // One pass with all features. Each further set of features compiles the same code again.
        clippy(&["--workspace", "--all-targets", "--all-features"])?;
        // Each provider alone, and each kind of TLS. The adapter without features has the server without any.
        for features in ["openai,tls-ring", "anthropic,native-tls", "gemini,testing"] {
            clippy(&["-p", "omniassist-server", "--no-default-features", "--features", features])?;
        }
        clippy(&["-p", "omniassist-axum", "--no-default-features"])
    });
    report.step("the oldest rusqlite, beside sqlx", sqlite_range::check);
    report.step("rustdoc", || {
        // Programs have no documentation that is published. Examples let cargo take the dependencies that clippy has checked,
        // since they have the features of the development dependencies.
        let doc = ["doc", "--locked", "--workspace", "--lib", "--examples", "--no-deps", "--all-features"];
        execute(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings"))
    });
}
