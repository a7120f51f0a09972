//! The limits of dependencies, which applications have to build too.

use crate::report::{Outcome, Report};
use crate::workspace::dependencies;

struct Budget {
    package: &'static str,
    /// The limit of lines in the tree, including the package itself.
    most: usize,
    /// Crates that default features must not link.
    never: &'static [&'static str],
}

const BUDGETS: [Budget; 2] = [
    Budget { package: "omniassist-core", most: 30, never: &["tokio", "hyper", "reqwest"] },
    Budget {
        package: "omniassist-server",
        most: 135,
        never: &["flate2", "governor", "jsonschema", "native-tls", "ring"],
    },
];

pub(crate) fn run(report: &mut Report) {
    for budget in &BUDGETS {
        report.step(&format!("dependencies of {}", budget.package), || check(budget));
    }
}

fn check(budget: &Budget) -> Outcome {
    let lines = dependencies(budget.package)?;
    println!("    {} of at most {}", lines.len(), budget.most);
    let names = || lines.iter().filter_map(|line| line.split_whitespace().next());
    if let Some(name) = names().find(|name| budget.never.contains(name)) {
        return Err(format!("{name} is linked"));
    }
    if lines.len() > budget.most {
        return Err(format!("{} are too many", lines.len()));
    }
    Ok(())
}
