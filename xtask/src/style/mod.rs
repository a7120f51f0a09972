//! `cargo xtask style`: rules that neither rustfmt nor clippy checks.

mod english;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{Outcome, Report};
use crate::workspace::root;

pub(crate) fn run(report: &mut Report) {
    report.step("source files", || files("rs", sources::source_findings));
    report.step("English of the documentation comments", || files("rs", english::source_findings));
    report.step("English of the documents", || files("md", english::document_findings));
    report.step("lock files", || files("json", sources::lock_findings));
}

/// Reads each file with the extension and collects the findings of `look`.
fn files(extension: &str, look: fn(&Path, &str) -> Vec<String>) -> Outcome {
    let mut found = Vec::new();
    let paths = walk(&root(), extension)?;
    for path in &paths {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let shown = path.strip_prefix(root()).unwrap_or(path);
        found.extend(look(shown, &text).into_iter().map(|finding| format!("{}{finding}", shown.display())));
    }
    println!("    {} files read", paths.len());
    for finding in &found {
        println!("    {finding}");
    }
    if found.is_empty() { Ok(()) } else { Err(format!("{} findings", found.len())) }
}

/// Lists the files below `folder` that have the extension, in the order of their paths.
pub(crate) fn walk(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            paths.extend(walk(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
