//! `cargo xtask test`: all tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::failed_tests::FailedTests;
use crate::prerequisites::{self, Need};
use crate::process::{run as execute, run_into};
use crate::python;
use crate::report::{BesideStep, Outcome, Repeated, Report};
use crate::widget::{self, npm_ci};
use crate::workspace::{WHOLE, build_binaries, cargo, root, target_folder};

/// A part of the tests that can run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Unit, integration and documentation tests.
    Rust,
    /// The official clients for Node.js and Python.
    Clients,
    /// The pages of the quickstart and the other examples in Chromium, and the widget in other browsers too.
    Browser,
    /// The types and the built files of the widget, and its tests in Node.js and Chromium.
    Widget,
    /// The quickstart with a real model: with a client, and with the page. If it is named alone, also the tool search.
    RealModel,
}

impl Part {
    const ALL: [Self; 5] = [Self::Rust, Self::Widget, Self::Clients, Self::Browser, Self::RealModel];

    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "rust" => Some(Self::Rust),
            "clients" => Some(Self::Clients),
            "browser" => Some(Self::Browser),
            "widget" => Some(Self::Widget),
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
            Self::Browser => &[
                Need::Node,
                Need::Npm,
                Need::Chromium,
                Need::Firefox,
                Need::WebKit,
                Need::Xvfb,
                Need::Postgres,
            ],
            Self::Widget | Self::RealModel => &[Need::Node, Need::Npm, Need::Chromium],
        }
    }
}

/// The adapters that serve the suites of the official clients, by their names in [`ADAPTER`], and that of MCP. The
/// examples themselves use the first one, axum.
pub(crate) const ADAPTERS: [&str; 3] = [AXUM, "actix", "hyper"];

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

/// The pages of the examples that Vite builds.
const PAGES: [&str; 2] = ["react-chat", "copilotkit-chat"];

/// The variables that name the files of the core's tests for the widget's, and their names in the target folder. They have
/// random texts and the parser's results, and random contexts and the compressor's.
const VECTORS: [(&str, &str); 2] = [
    ("OMNIASSIST_GROWING_VECTORS", "growing-vectors.ndjson"),
    ("OMNIASSIST_CONTEXT_VECTORS", "context-vectors.ndjson"),
];

/// The same for the folder of streams for the official clients.
const STREAMS: [(&str, &str); 1] = [("OMNIASSIST_STREAMS", "streams")];

/// The files of the browser suite that run over every adapter.
const ADAPTER_PAGES: [&str; 1] = ["widget-embedded.test.mjs"];

/// The folder with the MCP servers from npm that Rust tests start.
const MCP_SERVERS: &str = "omniassist-mcp/tests/client/official";

/// The folder with those from PyPI, and the name of their environment. The tests know where it is.
const PYTHON_MCP_SERVERS: (&str, &str) = ("tests/mcp/servers", "mcp-servers");

/// The variable that names the server of the real model.
const REAL_MODEL: &str = "OMNIASSIST_E2E_BASE_URL";

/// The variable that names the same server for the tests of the tool search.
const REAL_TOOL_SEARCH: &str = "OMNIASSIST_TOOL_SEARCH_BASE_URL";

/// The tests of the client suite that need the real model.
const REAL_MODEL_CLIENTS: [&str; 3] =
    ["real-model.test.mjs", "real-model-agents.test.mjs", "real-model-constrained.test.mjs"];

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

    let Some((vectors, streams)) = report.step("folder of the cases", cases) else { return };
    let Some(logs) = report.step("a folder for logs", || Ok(target_folder()?.join("client-suites"))) else {
        return;
    };
    let mut steps = Vec::new();
    if parts.contains(&Part::Rust) {
        if env::var_os(RECORDINGS).is_none() {
            report.skip("recorded provider streams", &format!("not configured ({RECORDINGS} is not set)"));
        }
        let (folder, name) = PYTHON_MCP_SERVERS;
        let npm = report.step("npm ci for the official MCP servers", || npm_ci(&root().join(MCP_SERVERS)));
        let environment = || python::environment(name, &root().join(folder));
        let python = report.step("MCP servers from PyPI", environment);
        if npm.zip(python).is_some() {
            let run = |log: &Path| rust_tests(&streams, log);
            steps.push(BesideStep::new("Rust tests".to_owned(), logs.join("rust-tests.log"), run));
        }
    }
    if parts.iter().all(|part| *part == Part::Rust) {
        return report.beside(steps);
    }
    let has_clients = parts.contains(&Part::Clients);
    let has_adapters = has_clients || parts.contains(&Part::Browser);
    let programs: Vec<_> = PROGRAMS.into_iter().chain(has_adapters.then_some(SERVED)).collect();
    let Some(programs) = report.step("programs of the suites", || binaries(&programs)) else {
        return report.beside(steps);
    };
    if parts.contains(&Part::Widget)
        && report.step("cases for the widget", || write_cases("generated::", &vectors)).is_some()
    {
        let files = programs.clone().into_iter().chain(vectors).collect();
        steps.extend(widget_step(files, &logs, report));
    }
    // Many Rust tests wait for servers and databases.
    report.beside(steps);
    if has_clients
        && !parts.contains(&Part::Rust)
        && report.step("streams for the clients", || write_cases("official::", &streams)).is_none()
    {
        return;
    }
    let (folder, examples) = (root().join("tests"), root().join("examples"));
    Suites { folder, examples, logs, programs, streams }.run(&parts, report);
}

/// Builds the tests in Rust.
pub(crate) fn build(report: &mut Report) {
    report.step("build of the Rust tests", || execute(tests().arg("--no-run")));
}

/// Returns the command that tests the workspace.
fn tests() -> Command {
    let mut tests = cargo(&["test"]);
    tests.args(WHOLE);
    tests
}

/// Runs all tests in Rust. Their output is written to a file. A few programs with failed tests run again, once.
fn rust_tests(streams: &Variables, log: &Path) -> Outcome<Repeated> {
    let outcome = run_into(log, tests().arg("--no-fail-fast").env("RUST_TEST_THREADS", "4").envs(streams));
    let output = fs::read(log).map_err(|error| format!("{}: {error}", log.display()))?;
    let output = String::from_utf8_lossy(&output);
    let Err(why) = outcome else { return Ok(Repeated::new()) };
    let failed: FailedTests = output.lines().collect();
    let again = failed.again();
    if !again.is_empty() && again.iter().all(|target| execute(tests().args(target)).is_ok()) {
        return Ok(failed.to_string().lines().map(str::to_owned).collect());
    }
    Err(format!("{why}: {failed}"))
}

/// Runs the tests of the tool search among the operations of a large document, and of the built-in components.
fn real_tools() -> Outcome {
    let url = env::var_os(REAL_MODEL).unwrap_or_default();
    for test in ["openapi", "server"] {
        execute(tests().args(["--test", test, "real_model::"]).env(REAL_TOOL_SEARCH, &url))?;
    }
    Ok(())
}

/// Paths by the environment variables that name them.
type Variables = BTreeMap<&'static str, PathBuf>;

struct Suites {
    folder: PathBuf,
    examples: PathBuf,
    logs: PathBuf,
    /// The binaries of the programs.
    programs: Variables,
    /// The folder of the core's streams.
    streams: Variables,
}

/// Builds the programs, and returns their binaries by the variables that name them.
fn binaries(programs: &[(&str, &'static str)]) -> Outcome<Variables> {
    let packages: Vec<&str> = programs.iter().map(|(package, _)| *package).collect();
    let variables = programs.iter().map(|(_, variable)| *variable);
    Ok(variables.zip(build_binaries(&packages)?).collect())
}

/// Checks the built files of the widget, and returns the step with its tests. They get the paths of these files.
fn widget_step(files: Variables, logs: &Path, report: &mut Report) -> Option<BesideStep<'static>> {
    report.step("npm ci in widget", || npm_ci(&widget::folder()))?;
    widget::check(report);
    let run = move |log: &Path| {
        node_tests("widget", widget::npm("test").envs(&files), |tests| run_into(log, tests))
    };
    Some(BesideStep::new("widget suite".to_owned(), logs.join("widget.log"), run))
}

/// Returns the paths of what the core's tests write: vectors and streams.
fn cases() -> Outcome<(Variables, Variables)> {
    let target = target_folder()?;
    let in_target = |(variable, name): (&'static str, &str)| (variable, target.join(name));
    Ok((VECTORS.map(in_target).into(), STREAMS.map(in_target).into()))
}

/// Runs the tests of the core that write these files.
fn write_cases(tests_that_write: &str, files: &Variables) -> Outcome {
    execute(tests().args(["--test", "core", "--", tests_that_write]).envs(files))
}

/// Runs a suite for Node.js, which runs files with failed tests twice. The error names the tests that failed.
pub(crate) fn node_tests(
    name: &str,
    suite: &mut Command,
    run: impl FnOnce(&mut Command) -> Outcome,
) -> Outcome<Repeated> {
    if let Some(chromium) = prerequisites::chromium() {
        suite.env("CHROMIUM_BIN", chromium);
    }
    let list = target_folder()?.join(format!("failed-tests-{name}"));
    let failed = |error: io::Error| format!("{}: {error}", list.display());
    fs::write(&list, "").map_err(failed)?;
    let outcome = run(suite.env("OMNIASSIST_FAILED_TESTS", &list));
    let tests = fs::read_to_string(&list).map_err(failed)?;
    outcome.map(|()| tests.lines().map(str::to_owned).collect()).map_err(|why| format!("{why}\n{tests}"))
}

/// Returns the tests that a log of pytest names as repeated.
fn repeated_tests(log: &Path) -> Outcome<Repeated> {
    let text = fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("RERUN ")).map(str::to_owned).collect())
}

impl Suites {
    fn run(&self, parts: &[Part], report: &mut Report) {
        let has = |wanted: &[Part]| parts.iter().any(|part| wanted.contains(part));
        let clients = has(&[Part::Clients, Part::RealModel])
            && report.step("npm ci in tests/clients", || self.npm_ci("clients")).is_some();
        let browser = has(&[Part::Browser, Part::RealModel])
            && report.step("npm ci in tests/browser", || self.npm_ci("browser")).is_some();
        let node = |name: String, suite, adapter, files| self.node_step(name, suite, adapter, files);
        let mut steps = Vec::new();
        if has(&[Part::Clients]) {
            let servers = || npm_ci(&root().join(MCP_SERVERS));
            if clients && report.step("npm ci for the MCP servers of the clients", servers).is_some() {
                let suites =
                    ADAPTERS.map(|adapter| node(format!("client suite, {adapter}"), "clients", adapter, &[]));
                steps.extend(suites);
            }
            for suite in ["openai-python", "agents-python"] {
                steps.extend(self.python_steps(suite, report));
            }
        }
        if has(&[Part::Browser]) {
            steps.extend(PAGES.map(|page| self.page_step(page)));
        }
        report.beside(steps);

        let mut steps = Vec::new();
        if browser && has(&[Part::Browser]) {
            steps.extend(ADAPTERS.map(|adapter| match adapter {
                AXUM => node("browser suite".to_owned(), "browser", AXUM, &[]),
                _ => node(format!("browser suite, {adapter}"), "browser", adapter, &ADAPTER_PAGES),
            }));
        }
        if clients && has(&[Part::RealModel]) {
            let name = "real-model suite, client".to_owned();
            steps.push(node(name, "clients", AXUM, &REAL_MODEL_CLIENTS));
        }
        report.beside(steps);
        // Its ten answers take minutes.
        if *parts == [Part::RealModel] {
            report.step("real-model suite, tools", real_tools);
        }
        if browser && has(&[Part::RealModel]) {
            report.tests("real-model suite, browser", || {
                self.node("browser", AXUM, &["real-model.test.mjs"], execute)
            });
        }
    }

    fn npm_ci(&self, suite: &str) -> Outcome {
        npm_ci(&self.folder.join(suite))
    }

    /// Returns the step that builds the static files of a page of the examples.
    fn page_step(&self, page: &str) -> BesideStep<'_> {
        let folder = self.examples.join(page);
        let run = move |log: &Path| {
            let mut build = Command::new("sh");
            build.args(["-c", "npm ci --no-fund --no-audit && npm run build"]).current_dir(folder);
            run_into(log, &mut build).map(|()| Repeated::new())
        };
        BesideStep::new(format!("examples/{page}"), self.logs.join(format!("{page}.log")), run)
    }

    /// Returns the step that runs a suite for Node.js over an adapter, or only the named files of it.
    fn node_step<'a>(
        &'a self,
        name: String,
        suite: &'a str,
        adapter: &'a str,
        files: &'a [&str],
    ) -> BesideStep<'a> {
        let run = move |log: &Path| self.node(suite, adapter, files, |command| run_into(log, command));
        BesideStep::new(name, self.logs.join(format!("{suite}-{adapter}.log")), run)
    }

    /// Runs a suite over an adapter, or only the named files of it.
    fn node(
        &self,
        suite: &str,
        adapter: &str,
        files: &[&str],
        run: impl FnOnce(&mut Command) -> Outcome,
    ) -> Outcome<Repeated> {
        let mut command = Command::new("node");
        command.arg("run.mjs").args(files).current_dir(self.folder.join(suite));
        self.serve(adapter, &mut command);
        command.envs(&self.streams);
        node_tests(&format!("{suite}-{adapter}"), &mut command, run)
    }

    /// Sets the variables that name the servers for a suite.
    fn serve(&self, adapter: &str, command: &mut Command) {
        command.env(ADAPTER, adapter).envs(&self.programs);
    }

    /// Installs the packages of a Python suite, and returns the steps that run it over the adapters.
    fn python_steps<'a>(&'a self, suite: &'a str, report: &mut Report) -> Vec<BesideStep<'a>> {
        let folder = self.folder.join(suite);
        let ready = report
            .step(&format!("packages of tests/{suite}"), || python::environment(suite, &folder))
            .map(|python| ADAPTERS.map(|adapter| (python.clone(), folder.clone(), adapter)));
        let step = |(python, folder, adapter)| -> BesideStep<'a> {
            let run = move |log: &Path| {
                let mut tests = Command::new(python);
                tests
                    .args(["-m", "pytest", "--reruns", "1", "-rR"])
                    .current_dir::<PathBuf>(folder)
                    .env("PYTHONDONTWRITEBYTECODE", "1");
                self.serve(adapter, &mut tests);
                run_into(log, &mut tests)?;
                repeated_tests(log)
            };
            let log = self.logs.join(format!("{suite}-{adapter}.log"));
            BesideStep::new(format!("client suite, {suite}, {adapter}"), log, run)
        };
        ready.into_iter().flatten().map(step).collect()
    }
}
