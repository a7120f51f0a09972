//! `cargo xtask modules`: no two modules of a crate name each other, at any depth.
//!
//! The sources are parsed without macro expansion. A path (`crate::a::b::Name`, `super::Name`, `child::Name`) is
//! followed through re-exports to the file that defines the name, so that a `pub use` in a `mod.rs` hides no
//! dependency. Tests are ignored. Two graphs are checked: the files, and at each depth the modules of one parent, with what
//! the files below them name.

mod graph;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::report::{Outcome, Report};
use crate::style::walk;
use crate::workspace::root;
use names::{Crate, Module, ModulePath};

pub(crate) fn run(report: &mut Report) {
    let Some(crates) = report.step("sources of the crates", crates) else { return };
    for (name, sources) in crates {
        report.step(&format!("module cycles in {name}"), || check(&sources));
    }
}

/// Reads the library crates of the workspace.
fn crates() -> Outcome<Vec<(String, Crate)>> {
    let entries = fs::read_dir(root()).map_err(|error| error.to_string())?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("omniassist-"))
        .collect();
    names.sort_unstable();
    names.into_iter().map(|name| Ok((name.clone(), read(&root().join(&name).join("src"))?))).collect()
}

fn read(folder: &Path) -> Outcome<Crate> {
    let mut modules = BTreeMap::new();
    for path in walk(folder, "rs")? {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let inside = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let mut segments: Vec<String> =
            inside.iter().map(|segment| segment.to_string_lossy().into_owned()).collect();
        if segments.iter().any(|segment| segment == "tests") {
            continue;
        }
        if matches!(segments.last().map(String::as_str), Some("mod" | "lib")) {
            segments.pop();
        }
        modules
            .insert(segments, Module::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    Ok(Crate { modules })
}

fn check(sources: &Crate) -> Outcome {
    let files = sources.dependencies();
    let shown = |path: &[String]| if path.is_empty() { "lib".to_owned() } else { path.join("::") };
    let siblings: BTreeSet<(String, String)> = files
        .iter()
        .filter_map(|(from, to)| siblings(from, to))
        .map(|(from, to)| (shown(&from), shown(&to)))
        .collect();
    let mut cycles = graph::cycles(&siblings);
    let files: BTreeSet<(String, String)> =
        files.iter().map(|(from, to)| (shown(from), shown(to))).filter(|(from, to)| from != to).collect();
    println!("    {} modules, {} dependencies between them", sources.modules.len(), files.len());
    cycles.extend(graph::cycles(&files));
    for cycle in &cycles {
        println!("    cycle: {}", cycle.join(" → "));
    }
    if cycles.is_empty() { Ok(()) } else { Err(format!("{} cycles", cycles.len())) }
}

/// Returns the modules of one parent that two modules are or belong to. `None` if one of the two contains the other.
fn siblings(from: &[String], to: &[String]) -> Option<(ModulePath, ModulePath)> {
    let shared = from.iter().zip(to).take_while(|(from, to)| from == to).count();
    Some((from.get(..=shared)?.to_vec(), to.get(..=shared)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::siblings;

    #[test]
    fn siblings_are_where_two_paths_first_differ() {
        let of = |from: &str, to: &str| {
            let split = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
            siblings(&split(from), &split(to)).map(|(from, to)| (from.join("::"), to.join("::")))
        };
        let are = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(of("a::b::c", "a::d"), are("a::b", "a::d"));
        assert_eq!(of("a::b::c::e", "a::b::d::f"), are("a::b::c", "a::b::d"));
        assert_eq!(of("a::b", "c"), are("a", "c"));
        assert_eq!((of("a", "a::b"), of("a::b::c", "a::b")), (None, None));
    }
}
