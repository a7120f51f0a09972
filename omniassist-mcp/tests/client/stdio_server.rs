//! A hostile server that is a process: this test program, with a variable that says so.

use std::fs::OpenOptions;
use std::io::{BufRead, Write, stdin};
use std::process::Command;
use std::time::Duration;

use super::protocol::{Protocol, Reaction};

/// Holds the names of the tools.
const TOOLS: &str = "HOSTILE_TOOLS";

/// Holds the definitions of the tools, if they have more than a name.
pub(crate) const DEFINITIONS: &str = "HOSTILE_DEFINITIONS";

/// Holds the file that the server writes when its input has ended.
pub(crate) const FAREWELL: &str = "HOSTILE_FAREWELL";

/// Returns the command of a server with these tools. Its standard output is moved to a third descriptor, because the test
/// program writes to the first.
pub(crate) fn command(tools: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", r#"exec "$0" "$@" 3>&1 1>/dev/null"#])
        .arg(std::env::current_exe().unwrap())
        .args(["client::stdio_server::serve", "--exact", "--nocapture"])
        .env(TOOLS, tools);
    command
}

/// Is not a test: serves in a process that another test has started.
#[test]
fn serve() {
    let Ok(tools) = std::env::var(TOOLS) else { return };
    let protocol = Protocol::new(tools.split(','));
    if let Ok(definitions) = std::env::var(DEFINITIONS) {
        protocol.set_tools(serde_json::from_str(&definitions).unwrap());
    }
    let mut output = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    if tools.contains("orphan") {
        // A process of its own, which does not notice the end of an input.
        let mut child = Command::new("/bin/sleep").arg("6543").spawn().unwrap();
        std::thread::spawn(move || child.wait());
    }
    for line in stdin().lock().lines() {
        let Ok(message) = serde_json::from_str(&line.unwrap()) else { continue };
        match protocol.react(&message) {
            Reaction::Send(messages) => {
                for message in messages {
                    writeln!(output, "{message}").unwrap();
                }
            }
            Reaction::Hang => std::thread::sleep(Duration::from_secs(3600)),
            Reaction::Die => std::process::abort(),
        }
    }
    if let Ok(file) = std::env::var(FAREWELL) {
        std::fs::write(file, "ended").unwrap();
    }
    if tools.contains("orphan") {
        // Nor does it notice the end of its own.
        std::thread::sleep(Duration::from_secs(3600));
    }
}
