//! `cargo xtask test`: all tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::failed_tests::FailedTests;
use crate::prerequisites::{self, Need};
use crate::process::{run as execute, run_and_read, run_into};
use crate::python;
use crate::report::{Outcome, Report};
use crate::workspace::{build_binaries, cargo, root, target_folder};

/// A part of the tests that can run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Unit, integration and documentation tests.
    Rust,
    /// The official clients for Node.js and Python.
    Clients,
    /// The pages of the quickstart and the other examples, in Chromium.
    Browser,
    /// The quickstart with a real model: with a client, and with the page. If it is named alone, also the tool search.
    RealModel,
}

impl Part {
    const ALL: [Self; 4] = [Self::Rust, Self::Clients, Self::Browser, Self::RealModel];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "rust" => Some(Self::Rust),
            "clients" => Some(Self::Clients),
            "browser" => Some(Self::Browser),
            "real-model" => Some(Self::RealModel),
            _ => None,
        }
    }

    fn needs(self) -> &'static [Need] {
        match self {
            Self::Rust => {
                &[Need::Node, Need::Npm, Need::Python, Need::Postgres, Need::PgBouncer, Need::Redis]
            }
            Self::Clients => &[Need::Node, Need::Npm, Need::Python, Need::Postgres],
            Self::Browser | Self::RealModel => &[Need::Node, Need::Npm, Need::Chromium],
        }
    }
}

/// The adapters that serve the examples for the suites of the official clients, by their names in [`ADAPTER`]. The
/// examples themselves use the first one, axum.
const ADAPTERS: [&str; 3] = [AXUM, "actix", "hyper"];

const AXUM: &str = "axum";

/// The variable that names the adapter for the suites.
const ADAPTER: &str = "OMNIASSIST_ADAPTER";

/// The packages of the programs that the suites start, and the variables that name their binaries.
const PROGRAMS: [(&str, &str); 8] = [
    ("quickstart", "QUICKSTART_BIN"),
    ("runtime-events", "RUNTIME_EVENTS_BIN"),
    ("back-office", "BACK_OFFICE_BIN"),
    ("cluster", "CLUSTER_BIN"),
    ("ledger", "LEDGER_BIN"),
    ("omniassist-mcp-served", "MCP_SERVED_BIN"),
    ("research-desk", "RESEARCH_DESK_BIN"),
    ("shared-cart", "SHARED_CART_BIN"),
];

/// The program that serves the examples over the other adapters.
const SERVED: (&str, &str) = ("omniassist-served", "SERVED_BIN");

/// The tests of the workspace, with features that are off by default. Commands with the same features share their
/// builds, and those with a subset of the packages do not.
const WORKSPACE: [&str; 5] = [
    "test",
    "--locked",
    "--workspace",
    "--features",
    "omniassist-benches/store,omniassist-core/partial-json,omniassist-mcp/client,omniassist-mcp/server,omniassist-server/rate-limit",
];

/// The pages of the examples that Vite builds.
const PAGES: [&str; 2] = ["react-chat", "copilotkit-chat"];

/// The folder with the MCP servers from npm that Rust tests start.
const MCP_SERVERS: &str = "omniassist-mcp/tests/client/official";

/// The folder with those from PyPI, and the name of their environment. The tests know where it is.
const PYTHON_MCP_SERVERS: (&str, &str) = ("tests/mcp/servers", "mcp-servers");

/// The variable that names the server of the real model.
const REAL_MODEL: &str = "OMNIASSIST_E2E_BASE_URL";

/// The variable that names the same server for the tests of the tool search.
const REAL_TOOL_SEARCH: &str = "OMNIASSIST_TOOL_SEARCH_BASE_URL";

/// The variable that names the folder of recorded provider streams. With `CI=true` the tests fail without it.
const RECORDINGS: &str = "OMNIASSIST_FIXTURES";

/// Runs the named parts, or all parts if none is named.
pub(crate) fn run(named: &[Part], report: &mut Report) {
    let mut parts = if named.is_empty() { Part::ALL.to_vec() } else { named.to_vec() };
    if parts.contains(&Part::RealModel) && env::var_os(REAL_MODEL).is_none_or(|url| url.is_empty()) {
        report.skip("real-model suite", &format!("not configured ({REAL_MODEL} is not set)"));
        parts.retain(|part| *part != Part::RealModel);
    }
    let needs: Vec<Need> = parts.iter().flat_map(|part| part.needs()).copied().collect();
    if needs.is_empty() && parts.is_empty() {
        return;
    }
    if report.step("prerequisites", || prerequisites::provide(&needs)).is_none() {
        return;
    }

    if parts.contains(&Part::Rust) {
        if env::var_os(RECORDINGS).is_none() {
            report.skip("recorded provider streams", &format!("not configured ({RECORDINGS} is not set)"));
        }
        let (folder, name) = PYTHON_MCP_SERVERS;
        let npm = report.step("npm ci for the official MCP servers", || npm_ci(&root().join(MCP_SERVERS)));
        let environment = || python::environment(name, &root().join(folder));
        let python = report.step("MCP servers from PyPI", environment);
        if npm.zip(python).is_some() {
            report.step("Rust tests", rust_tests);
        }
    }
    if parts.iter().all(|part| *part == Part::Rust) {
        return;
    }
    let has_clients = parts.contains(&Part::Clients);
    let programs: Vec<_> = PROGRAMS.into_iter().chain(has_clients.then_some(SERVED)).collect();
    let Some(programs) = report.step("programs of the suites", || binaries(&programs)) else { return };
    let mut written = None;
    if has_clients {
        written = report.step("streams for the official clients", streams);
        if written.is_none() {
            return;
        }
    }
    let (folder, examples) = (root().join("tests"), root().join("examples"));
    Suites { folder, examples, programs, streams: written }.run(&parts, report);
}

fn rust_tests() -> Outcome {
    let mut failed = FailedTests::default();
    let mut tests = cargo(&WORKSPACE);
    run_and_read(tests.arg("--no-fail-fast"), |line| failed.read(line))
        .map_err(|status| format!("{status}: {failed}"))
}

/// Runs the test of the tool search among the operations of a large document.
fn real_tool_search() -> Outcome {
    let mut test = cargo(&WORKSPACE);
    let url = env::var_os(REAL_MODEL).unwrap_or_default();
    execute(test.args(["--test", "openapi", "real_model::"]).env(REAL_TOOL_SEARCH, url))
}

struct Suites {
    folder: PathBuf,
    examples: PathBuf,
    /// The binaries of the programs, by the variables that name them.
    programs: BTreeMap<&'static str, PathBuf>,
    /// The streams for the client suite.
    streams: Option<PathBuf>,
}

/// Builds the programs, and returns their binaries by the variables that name them.
fn binaries(programs: &[(&str, &'static str)]) -> Outcome<BTreeMap<&'static str, PathBuf>> {
    let packages: Vec<&str> = programs.iter().map(|(package, _)| *package).collect();
    let variables = programs.iter().map(|(_, variable)| *variable);
    Ok(variables.zip(build_binaries(&packages)?).collect())
}

fn npm_ci(folder: &Path) -> Outcome {
    execute(Command::new("npm").args(["ci", "--no-fund", "--no-audit"]).current_dir(folder))
}

/// Runs the core's tests that write the streams for the official clients. Returns the folder of the streams.
fn streams() -> Outcome<PathBuf> {
    let folder = target_folder()?.join("streams");
    let mut test = cargo(&WORKSPACE);
    execute(test.args(["--test", "core", "official::"]).env("OMNIASSIST_STREAMS", &folder))?;
    Ok(folder)
}

impl Suites {
    fn run(&self, parts: &[Part], report: &mut Report) {
        let has = |wanted: &[Part]| parts.iter().any(|part| wanted.contains(part));
        let clients = has(&[Part::Clients, Part::RealModel])
            && report.step("npm ci in tests/clients", || self.npm_ci("clients")).is_some();
        let browser = has(&[Part::Browser, Part::RealModel])
            && report.step("npm ci in tests/browser", || self.npm_ci("browser")).is_some();
        if has(&[Part::Clients]) {
            let servers = || npm_ci(&root().join(MCP_SERVERS));
            if clients && report.step("npm ci for the MCP servers of the clients", servers).is_some() {
                self.clients(report);
            }
            for suite in ["openai-python", "agents-python"] {
                self.python(suite, report);
            }
        }
        if browser && has(&[Part::Browser]) {
            let built = PAGES.map(|page| report.step(&format!("examples/{page}"), || self.build_page(page)));
            if built.iter().all(Option::is_some) {
                report.step("browser suite", || self.node("browser", AXUM, &[], execute));
            }
        }
        if clients && has(&[Part::RealModel]) {
            let files =
                ["real-model.test.mjs", "real-model-agents.test.mjs", "real-model-constrained.test.mjs"];
            report.step("real-model suite, client", || self.node("clients", AXUM, &files, execute));
        }
        // Its ten answers take minutes.
        if *parts == [Part::RealModel] {
            report.step("real-model suite, tool search", real_tool_search);
        }
        if browser && has(&[Part::RealModel]) {
            report.step("real-model suite, browser", || {
                self.node("browser", AXUM, &["real-model.test.mjs"], execute)
            });
        }
    }

    /// Runs the official clients for Node.js over all adapters at the same time. They mostly wait, so two cores are enough.
    fn clients(&self, report: &mut Report) {
        let Some(target) = report.step("a folder for logs", target_folder) else { return };
        let suites = ADAPTERS.map(|adapter| {
            let run = move |log: &Path| self.node("clients", adapter, &[], |command| run_into(log, command));
            (format!("client suite, {adapter}"), target.join(format!("client-suites/{adapter}.log")), run)
        });
        report.beside(suites.into());
    }

    fn npm_ci(&self, suite: &str) -> Outcome {
        npm_ci(&self.folder.join(suite))
    }

    /// Builds the static files of a page of the examples.
    fn build_page(&self, page: &str) -> Outcome {
        let folder = self.examples.join(page);
        npm_ci(&folder)?;
        execute(Command::new("npm").args(["run", "build"]).current_dir(&folder))
    }

    /// Runs a suite over an adapter, or only the named files of it. The error names the tests that failed.
    fn node(
        &self,
        suite: &str,
        adapter: &str,
        files: &[&str],
        run: impl FnOnce(&mut Command) -> Outcome,
    ) -> Outcome {
        let mut command = Command::new("node");
        command.arg("run.mjs").args(files).current_dir(self.folder.join(suite));
        if let Some(chromium) = prerequisites::chromium() {
            command.env("CHROMIUM_BIN", chromium);
        }
        self.serve(adapter, &mut command);
        if let Some(streams) = &self.streams {
            command.env("OMNIASSIST_STREAMS", streams);
        }
        let failed = target_folder()?.join(format!("failed-tests-{suite}-{adapter}"));
        fs::write(&failed, "").map_err(|error| format!("{}: {error}", failed.display()))?;
        command.env("OMNIASSIST_FAILED_TESTS", &failed);
        run(&mut command).map_err(|why| format!("{why}\n{}", fs::read_to_string(&failed).unwrap_or_default()))
    }

    /// Sets the variables that name the servers for a suite.
    fn serve(&self, adapter: &str, command: &mut Command) {
        command.env(ADAPTER, adapter).envs(&self.programs);
    }

    /// Runs a Python suite over all adapters at the same time.
    fn python(&self, suite: &str, report: &mut Report) {
        let folder = self.folder.join(suite);
        let name = format!("packages of tests/{suite}");
        let ready = report.step(&name, || Ok((target_folder()?, python::environment(suite, &folder)?)));
        let Some((target, python)) = ready else { return };
        let (python, folder) = (&python, &folder);
        let suites = ADAPTERS.map(|adapter| {
            let run = move |log: &Path| {
                let mut tests = Command::new(python);
                tests.args(["-m", "pytest"]).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
                self.serve(adapter, &mut tests);
                run_into(log, &mut tests)
            };
            let log = target.join(format!("client-suites/{suite}-{adapter}.log"));
            (format!("client suite, {suite}, {adapter}"), log, run)
        });
        report.beside(suites.into());
    }
}
