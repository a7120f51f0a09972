//! The sources with all slips in them, and what is built of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::slip;
use crate::process::{output, run as execute};
use crate::report::Outcome;
use crate::workspace::{cargo, root};

/// Says which slip is made; the copy's code reads it.
const CHOSEN: &str = "OMNIASSIST_SLIP";

/// The servers that the suite starts, and the variables that name them.
const SERVERS: [(&str, &str); 4] = [
    ("ledger", "LEDGER_BIN"),
    ("quickstart", "QUICKSTART_BIN"),
    ("runtime-events", "RUNTIME_EVENTS_BIN"),
    ("shared-cart", "SHARED_CART_BIN"),
];

/// The file that gets the switch.
const LIBRARY: &str = "omniassist-core/src/lib.rs";

const SWITCH: &str = r#"
#[doc(hidden)]
#[allow(missing_docs)]
pub mod slip {
    pub fn is(number: u32) -> bool {
        static CHOSEN: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
        *CHOSEN.get_or_init(|| std::env::var("OMNIASSIST_SLIP").ok()?.parse().ok()) == Some(number)
    }
}
"#;

/// What the suite says.
#[derive(Debug)]
pub(super) enum Verdict {
    Green,
    /// The first test that fails.
    Red(String),
}

#[derive(Debug)]
pub(super) struct Copy {
    folder: PathBuf,
}

impl Copy {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Writes the sources. What is the same already stays, so that cargo builds only what has changed.
    pub(super) fn make(&self) -> Outcome {
        fit()?;
        let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
        let listed = output(Command::new("git").args(list).current_dir(root()))?;
        let paths: Vec<&str> = listed.lines().filter(|path| root().join(path).is_file()).collect();
        let tree = self.tree();
        let kept: Vec<PathBuf> = paths.iter().map(|path| tree.join(path)).collect();
        remove_others(&tree, &kept).map_err(|error| format!("{}: {error}", tree.display()))?;
        for path in paths {
            let mut text = fs::read(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
            if path.ends_with(".rs") {
                text = with_slips(path, text)?;
            }
            put(&tree.join(path), &text)?;
        }
        Ok(())
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo(arguments);
        command.current_dir(self.tree()).env("CARGO_TARGET_DIR", self.folder.join("build"));
        command
    }

    pub(super) fn build(&self) -> Outcome {
        let mut build = self.cargo(&["build", "--locked"]);
        for (package, _) in SERVERS {
            build.args(["-p", package]);
        }
        execute(&mut build)?;
        let tests = ["test", "--locked", "--no-run", "-p", "omniassist-core", "--test", "core"];
        execute(&mut self.cargo(&tests))
    }

    /// What these files of the client suite say with a slip made; 0 is none.
    pub(super) fn verdict(&self, slip: usize, suites: &[&str]) -> Outcome<Verdict> {
        let number = slip.to_string();
        let streams = self.folder.join("streams");
        if suites.contains(&"strict") {
            // Only the chunks: the random answers take long to make.
            let chunks = ["test", "--locked", "-p", "omniassist-core", "--test", "core", "official::chunks"];
            let mut test = self.cargo(&chunks);
            test.env(CHOSEN, &number).env("OMNIASSIST_STREAMS", &streams).stderr(Stdio::null());
            execute(test.stdout(Stdio::null()))?;
        }
        let path = self.folder.join(format!("slip-{slip}.log"));
        let file = fs::File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut suite = Command::new("node");
        suite.arg("run.mjs").args(suites.iter().map(|suite| format!("{suite}.test.mjs")));
        suite.current_dir(root().join("tests/clients"));
        for (package, variable) in SERVERS {
            suite.env(variable, self.folder.join("build/debug").join(package));
        }
        suite.env("OMNIASSIST_STREAMS", &streams).env(CHOSEN, &number).env("FIRST_FAILURE", "ends");
        suite.env_remove("OMNIASSIST_ADAPTER");
        let ended = suite.stdin(Stdio::null()).stdout(file).stderr(Stdio::null()).status();
        if ended.map_err(|error| format!("node cannot be run: {error}"))?.success() {
            return Ok(Verdict::Green);
        }
        let log = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let first = log.lines().find_map(|line| line.strip_prefix("first failure: "));
        let unclear = || format!("no test fails, and yet the suite does: see {}", path.display());
        Ok(Verdict::Red(first.ok_or_else(unclear)?.to_owned()))
    }
}

/// Whether every slip still finds what it replaces.
pub(crate) fn fit() -> Outcome {
    let mut files: Vec<&str> = slip::all().map(|(_, slip)| slip.file).collect();
    files.sort_unstable();
    files.dedup();
    let misfits: Vec<String> = files
        .iter()
        .filter_map(|path| {
            let text = fs::read(root().join(path)).map_err(|error| format!("{path}: {error}"));
            text.and_then(|text| with_slips(path, text)).err()
        })
        .collect();
    if misfits.is_empty() {
        return Ok(());
    }
    misfits.iter().for_each(|misfit| println!("    {misfit}"));
    Err(format!("{} files are not what the slips in xtask/src/mutants replace", misfits.len()))
}

/// The text of a file of the copy. Every slip of this file must find its place.
fn with_slips(path: &str, text: Vec<u8>) -> Outcome<Vec<u8>> {
    let mut text = String::from_utf8(text).map_err(|_| format!("{path}: not UTF-8"))?;
    let switch = if path.starts_with("omniassist-core/") { "crate::slip" } else { "omniassist_core::slip" };
    for (number, slip) in slip::all().filter(|(_, slip)| slip.file == path) {
        let places = text.matches(slip.find).count();
        if places != 1 {
            return Err(format!("{path}: what \"{}\" changes stands there {places} times", slip.what));
        }
        let replace = slip.replace.replace("SLIP", &format!("{switch}::is({number})"));
        text = text.replace(slip.find, &replace);
    }
    if path == LIBRARY {
        text.push_str(SWITCH);
    }
    Ok(text.into_bytes())
}

/// Writes a file unless it is the same already.
fn put(path: &Path, text: &[u8]) -> Outcome {
    if fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes the files that are no longer among the sources.
fn remove_others(folder: &Path, kept: &[PathBuf]) -> std::io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
