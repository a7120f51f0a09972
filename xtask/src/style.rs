//! What neither rustfmt nor clippy looks at.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mutants;
use crate::report::{Outcome, Report};
use crate::workspace::root;

/// Lines of a source file before its tests.
const MOST_LINES: usize = 500;

/// Macros that stand for code that is not written, and output that is left from debugging.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

pub(crate) fn run(report: &mut Report) {
    report.step("source files", || files("rs", source_findings));
    report.step("slips of cargo xtask mutants", mutants::fit);
    report.step("lock files", || files("json", lock_findings));
}

/// Reads each file with the extension and collects what `look` finds.
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

fn walk(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
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

fn source_findings(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
    let length = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
    if !is_test && length > MOST_LINES {
        found.push(format!(": {length} lines before its tests; {MOST_LINES} are the most"));
    }
    for (at, line) in text.lines().enumerate() {
        let unfinished = UNFINISHED.iter().any(|name| line.contains(&format!("{name}!(")));
        if unfinished || line.trim_start().starts_with(concat!("#[", "ignore")) {
            found.push(format!(":{}: {}", at + 1, line.trim()));
        }
    }
    found
}

/// npm writes the address that each package came from unless it is told not to: that of one machine's registry.
fn lock_findings(path: &Path, text: &str) -> Vec<String> {
    let is_lock = path.ends_with("package-lock.json");
    if is_lock && text.contains("\"resolved\"") {
        vec![": has download addresses".to_owned()]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{lock_findings, source_findings};

    #[test]
    fn unfinished_code_is_found() {
        let text = ["fn f() {", "    ", "to", "do!();", "}"].concat();
        assert_eq!(source_findings(Path::new("src/a.rs"), &text).len(), 1);
        assert_eq!(source_findings(Path::new("src/a.rs"), concat!("#[", "ignore = \"slow\"]")).len(), 1);
        assert!(source_findings(Path::new("src/a.rs"), "fn f() {}").is_empty());
    }

    #[test]
    fn length_counts_up_to_the_tests() {
        let long = "// x\n".repeat(501);
        assert_eq!(source_findings(Path::new("src/a.rs"), &long).len(), 1);
        assert!(source_findings(Path::new("tests/a.rs"), &long).is_empty());
        let tested = format!("{}#[cfg(test)]\n{long}", "// x\n".repeat(500));
        assert!(source_findings(Path::new("src/a.rs"), &tested).is_empty());
    }

    #[test]
    fn addresses_in_lock_files_are_found() {
        let text = r#"{"packages": {"a": {"resolved": "x"}}}"#;
        assert_eq!(lock_findings(Path::new("tests/clients/package-lock.json"), text).len(), 1);
        assert!(lock_findings(Path::new("other.json"), text).is_empty());
    }
}
