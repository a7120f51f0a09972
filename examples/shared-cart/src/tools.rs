//! What the assistant can do with the cart.

use std::time::Duration;

use omniassist_axum::{Approval, Args, Json, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Between the steps of paying, so that they can be seen.
const PACE: Duration = Duration::from_millis(20);

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new("add_to_cart", "Put tea into the cart", add_to_cart)
            .example("Two packs of Darjeeling, please", json!({"tea": "Darjeeling", "packs": 2})),
        Tool::new("pay", "Pay for the cart", pay)
            .example("I want to pay", json!({"cents": 1980}))
            .requires_approval(Approval::always().message("Pay for what is in the cart?").editable()),
        Tool::request_input(),
    ]
}

/// What is put into the cart.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Item {
    /// Name of the tea
    tea: String,
    /// How many packs
    packs: u32,
}

/// Changes the cart that the page shows. The page sees the change before the model has said a word about it.
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

/// What is paid.
#[derive(Debug, Deserialize, JsonSchema)]
struct Payment {
    /// The sum, in cents
    cents: u32,
}

#[derive(Debug, Serialize)]
struct Receipt {
    paid: u32,
}

/// Runs only once the user has approved this very sum, or another that they put in its place.
async fn pay(Args(payment): Args<Payment>, call: ToolContext) -> Result<Json<Receipt>, ToolError> {
    for step in ["Asking the bank", "Printing the receipt"] {
        call.activity("payment", "payment", json!({ "step": step }));
        call.progress(json!({ "step": step }));
        tokio::time::sleep(PACE).await;
    }
    call.update_shared_state(|state| *state = json!({ "cart": [] }));
    Ok(Json(Receipt { paid: payment.cents }))
}
