//! The folders of the workspace, and the output of cargo about it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process;
use crate::report::Outcome;

/// Returns the folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // The variable at run time is the folder of this checkout. The compiled value may come from another checkout that
    // shares the target folder.
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Returns a command of the cargo that runs this program, in the folder of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Returns the output of `cargo metadata`.
pub(crate) fn metadata() -> Outcome<Value> {
    let text = process::output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// Returns the target folder of cargo.
pub(crate) fn target_folder() -> Outcome<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    folder.map(PathBuf::from).ok_or_else(|| "cargo metadata names no target folder".to_owned())
}

/// Returns the lines of the dependency tree of one package without duplicates: itself and the crates that it links on
/// this target.
pub(crate) fn dependencies(package: &str) -> Outcome<Vec<String>> {
    let tree = ["tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "--no-dedupe"];
    let text = process::output(&mut cargo(&tree))?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines.dedup();
    Ok(lines)
}

/// The features of the tests that are off by default. The failpoints of `torment` are among them, so that its program shares
/// the build of the others; a point does nothing unless a variable names it.
const FEATURES: &str = "omniassist-benches/store,omniassist-core/partial-json,omniassist-mcp/client,omniassist-mcp/server,omniassist-server/rate-limit,omniassist-torment/failpoints";

/// All packages, with features that are off by default. Commands with these arguments share their builds, and those with a
/// subset of the packages do not.
pub(crate) const WHOLE: [&str; 4] = ["--locked", "--workspace", "--features", FEATURES];

/// Builds the binaries of packages as the tests of the workspace build them. Returns their paths in the order of the packages.
pub(crate) fn build_binaries(packages: &[&str]) -> Outcome<Vec<PathBuf>> {
    // Examples have the features of the development dependencies, as tests have. Without them, cargo would compile the
    // crates with other features again.
    build(packages, &[&WHOLE[..], &["--examples"]].concat(), "--bin")
}

/// Builds the binary of one package as the tests of the workspace build it. Returns its path.
pub(crate) fn build_binary(package: &str) -> Outcome<PathBuf> {
    one(build_binaries(&[package])?)
}

/// Builds the release binary of a package and returns its path.
pub(crate) fn build_release(package: &str) -> Outcome<PathBuf> {
    one(build(&[package], &["--release", "--locked"], "-p")?)
}

fn one(binaries: Vec<PathBuf>) -> Outcome<PathBuf> {
    binaries.into_iter().next().ok_or_else(|| "cargo builds no binary".to_owned())
}

fn build(packages: &[&str], flags: &[&str], selects: &str) -> Outcome<Vec<PathBuf>> {
    let mut build = cargo(&["build", "--message-format=json-render-diagnostics"]);
    build.args(flags).args(packages.iter().flat_map(|package| [selects, package]));
    let messages = process::output(&mut build)?;
    let messages: Vec<Value> = messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let binary = |package: &&str| {
        let mut messages = messages
            .iter()
            .filter(|message| message.pointer("/target/name").and_then(Value::as_str) == Some(*package));
        messages
            .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
            .ok_or_else(|| format!("cargo builds no binary `{package}`"))
    };
    packages.iter().map(binary).collect()
}
