//! The tools of the shop.

use std::time::Duration;

use omniassist_axum::{Approval, Args, Json, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::components::recommend;

/// The pause between the steps of paying. It makes the steps visible.
const PACE: Duration = Duration::from_millis(20);

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("add_to_cart", "Put tea into the cart", add_to_cart)
            .example("Two packs of Darjeeling, please", json!({"tea": "Darjeeling", "packs": 2})),
        Tool::new("pay", "Pay for the cart", pay)
            .example("I want to pay", json!({"cents": 1980}))
            .requires_approval(Approval::always().message("Pay for what is in the cart?").editable()),
        Tool::new("recommend", "Show the user a card of a tea for a taste", recommend)
            .example("I like it fruity", json!({"taste": "fruity"})),
        Tool::request_input(),
    ]
}

/// The arguments of `add_to_cart`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Item {
    /// Name of the tea
    tea: String,
    /// Number of packs
    packs: u32,
}

/// Changes the cart. The page shows the change before the model writes about it.
async fn add_to_cart(Args(item): Args<Item>, call: ToolContext) -> Result<String, ToolError> {
    let said = format!("{} packs of {} are in the cart.", item.packs, item.tea);
    call.update_shared_state(|state| {
        if !state.get("cart").is_some_and(Value::is_array) {
            *state = json!({ "cart": [] });
        }
        if let Some(cart) = state.get_mut("cart").and_then(Value::as_array_mut) {
            cart.push(json!(item));
        }
    });
    Ok(said)
}

/// The arguments of a payment.
#[derive(Debug, Deserialize, JsonSchema)]
struct Payment {
    /// The sum, in cents
    cents: u32,
}

#[derive(Debug, Serialize)]
struct Receipt {
    paid: u32,
}

/// Runs after the user has approved the sum. The user may change the sum.
async fn pay(Args(payment): Args<Payment>, call: ToolContext) -> Result<Json<Receipt>, ToolError> {
    for step in ["Asking the bank", "Printing the receipt"] {
        call.activity("payment", "payment", json!({ "step": step }));
        call.progress(json!({ "step": step }));
        tokio::time::sleep(PACE).await;
    }
    call.update_shared_state(|state| *state = json!({ "cart": [] }));
    Ok(Json(Receipt { paid: payment.cents }))
}
