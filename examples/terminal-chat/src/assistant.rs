//! The assistant: a model, two tools of a small sales team, and the components that come with the library.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use omniassist_server::component::Ui;
use omniassist_server::ui::builtin::{Stat, StatItem};
use omniassist_server::{Approval, Args, Assistant, Json, LlmProvider, State, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::components;

const SYSTEM_PROMPT: &str = "You are the assistant of a sales team, in a terminal. Use the tools for every figure. \
     Show figures with the components instead of writing them as text, and ask with a form when details are missing. \
     Answer briefly.";

/// The target of each region, in thousands.
type Targets = Arc<Mutex<BTreeMap<String, u32>>>;

#[derive(Serialize)]
struct Region {
    region: &'static str,
    sales: u32,
    last_year: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Target {
    /// North, South, East or West.
    region: String,
    /// In thousands of euros.
    amount: u32,
}

/// Returns the sales, and shows their sum without the model.
async fn sales(ui: Ui) -> Result<Json<Vec<Region>>, ToolError> {
    let regions = [("North", 1_240, 1_120), ("South", 860, 910), ("East", 1_510, 1_300), ("West", 640, 655)];
    let regions = regions.map(|(region, sales, last_year)| Region { region, sales, last_year });
    let total: u32 = regions.iter().map(|region| region.sales).sum();
    let item = StatItem { label: "Sales".to_owned(), value: total.to_string(), ..StatItem::default() };
    ui.show("stat", Stat { items: vec![StatItem { unit: Some("k€".to_owned()), ..item }] })?;
    Ok(Json(regions.into()))
}

async fn set_target(
    Args(target): Args<Target>,
    State(targets): State<Targets>,
) -> Result<String, Infallible> {
    let text = format!("The target of {} is {} thousand euros.", target.region, target.amount);
    targets.lock().unwrap_or_else(PoisonError::into_inner).insert(target.region, target.amount);
    Ok(text)
}

/// Builds the assistant.
///
/// # Errors
///
/// Fails if the settings of the assistant are not valid.
pub fn assistant(model: Arc<dyn LlmProvider>) -> omniassist_server::Result<Assistant> {
    Assistant::builder(model)
        .system_prompt(SYSTEM_PROMPT)
        .state(Targets::default())
        // The messages stay in this process, so no client can forge them.
        .trust_client_history()
        .tool(Tool::new(
            "sales",
            "Returns the sales of this year and the last by region, in thousands of euros.",
            sales,
        ))
        .tool(
            Tool::new("set_target", "Sets the sales target of a region.", set_target)
                .requires_approval(Approval::always()),
        )
        .components(components::all())
        .build()
}
