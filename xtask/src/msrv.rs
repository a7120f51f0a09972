//! The check of the stated Rust versions: no crate that a user links with a package requires a newer one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::report::{Outcome, Report};
use crate::workspace::{dependencies, metadata};

pub(crate) fn run(report: &mut Report) {
    report.step("rust-version", check);
}

fn check() -> Outcome {
    let metadata = metadata()?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).ok_or("cargo metadata lists no packages")?;
    let text = |package: &Value, field: &str| package.get(field).and_then(Value::as_str).map(str::to_owned);

    // Published packages of this workspace have no source, and no `publish` setting.
    let ours: Vec<&Value> = packages
        .iter()
        .filter(|package| package.get("source").is_none_or(Value::is_null))
        .filter(|package| package.get("publish").is_none_or(Value::is_null))
        .collect();
    for package in ours {
        let name = text(package, "name").ok_or("a package has no name")?;
        let stated = text(package, "rust_version").ok_or_else(|| format!("{name} states no rust-version"))?;
        let mut linked = BTreeSet::new();
        // `name v1.2.3 (...)`
        for line in dependencies(&name)? {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(version)) = (words.next(), words.next()) {
                linked.insert((name.to_owned(), version.trim_start_matches('v').to_owned()));
            }
        }
        let highest = packages
            .iter()
            .filter_map(|package| {
                let key = (text(package, "name")?, text(package, "version")?);
                let version = linked.contains(&key).then(|| text(package, "rust_version"))??;
                Some((number(&version), version, key.0))
            })
            .max()
            .ok_or("no dependency states a rust-version")?;
        println!(
            "    {name} states {stated}; the highest of {} crates is {} ({})",
            linked.len(),
            highest.1,
            highest.2
        );
        if highest.0 > number(&stated) {
            return Err(format!("{} requires {}, and {name} states {stated}", highest.2, highest.1));
        }
    }
    Ok(())
}

/// Returns a version in a form that sorts. Parts that are missing or not numbers are 0.
fn number(version: &str) -> [u64; 3] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn versions_sort_by_number() {
        assert!(number("1.89") < number("1.90.1"));
        assert!(number("1.9") < number("1.89"));
        assert_eq!(number("1.89"), number("1.89.0"));
    }
}
