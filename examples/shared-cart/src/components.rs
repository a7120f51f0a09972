//! The components of the shop: a card of a tea, and a question for a day.

use omniassist_axum::component::{Component, ComponentContext, Ui};
use omniassist_axum::{Args, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) fn all() -> [Component; 2] {
    [
        Component::new::<TeaCard>("tea-card", "Show one tea to the user, who can note and order packs")
            .state::<Note>()
            .server_state::<Ordered>()
            .on_action("order", order)
            .cli(|card: &TeaCard, _| format!("{}: {}", card.tea, card.text)),
        Component::awaiting::<Days, Day>("pick-day", "Let the user pick the day of the delivery"),
    ]
}

/// The props of a card.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct TeaCard {
    /// Name of the tea
    tea: String,
    /// A sentence about it
    text: String,
}

/// The user's notes on a card.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Note {
    text: String,
    packs: u32,
}

/// The packs that the user has ordered on a card. Only the server changes them.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Ordered {
    packs: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    /// Number of packs
    packs: u32,
}

/// Runs when the user presses the button of a card. No model is called.
async fn order(Args(order): Args<Order>, card: ComponentContext) -> Result<Value, ToolError> {
    let update = |ordered: &mut Ordered| {
        ordered.packs = ordered.packs.saturating_add(order.packs);
        ordered.packs
    };
    let packs = card.update_server_state(update).await?;
    Ok(json!({ "ordered": packs }))
}

/// The arguments of `recommend`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Taste {
    /// A word of the user, such as fruity
    taste: String,
}

/// Shows a card without the model, which does not write its props.
pub(crate) async fn recommend(Args(Taste { taste }): Args<Taste>, ui: Ui) -> Result<String, ToolError> {
    let tea = if taste.contains("fruit") { "Darjeeling" } else { "Sencha" };
    ui.show("tea-card", TeaCard { tea: tea.to_owned(), text: format!("For those who like it {taste}.") })?;
    Ok(format!("The user sees a card of {tea}."))
}

/// The props of the question.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the page reads the props")]
struct Days {
    /// The days, such as Monday
    days: Vec<String>,
}

/// The answer to the question.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the model reads the answer")]
struct Day {
    day: String,
}
