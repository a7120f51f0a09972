//! The prices that budgets of money need.

use std::collections::BTreeSet;

use super::AssistantBuilder;
use crate::engine::settings::{NamedAgent, Setup};
use crate::{Error, Result};

impl AssistantBuilder {
    /// Checks that each model has a price whose cost is limited: by the tree, by the budget of its agent, or by that of an
    /// agent that may ask it.
    pub(super) fn check_prices(setup: &Setup) -> Result<()> {
        let of_tree = setup.config.tree.max_cost().is_some();
        let is_limited = |agent: &NamedAgent| of_tree || agent.settings.budget.max_cost().is_some();
        let mut open: Vec<_> = setup.agents.values().filter(|agent| is_limited(agent)).collect();
        let mut known = BTreeSet::new();
        while let Some(agent) = open.pop() {
            let name = &agent.settings.name;
            if known.insert(name) {
                check(setup, Some(agent), &format!("the agent {:?}", &**name))?;
                open.extend(agent.settings.delegates.iter().filter_map(|name| setup.agents.get(name)));
            }
        }
        if of_tree { check(setup, None, "the assistant") } else { Ok(()) }
    }
}

fn check(setup: &Setup, agent: Option<&NamedAgent>, whose: &str) -> Result<()> {
    let model = setup.model_of(agent).map(|model| &**model).or_else(|| setup.provider_of(agent).model());
    let has_price = |model| setup.config.prices.as_ref().is_some_and(|prices| prices.price(model).is_some());
    let reason = match model {
        Some(model) if has_price(model) => return Ok(()),
        Some(model) => format!("`prices` has none for its model {model:?}"),
        // A function of the host may choose the model.
        None if setup.config.chooses_models() => return Ok(()),
        None => "the name of its model is not known".to_owned(),
    };
    Err(Error::configuration(format!("{whose}: its cost is limited, and {reason}")))
}
