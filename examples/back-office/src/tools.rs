//! The tools. `visible_to` selects the callers for whom a tool exists.

use omniassist_axum::{Args, Json, State, Tool, ToolError};
use quickstart::{Customer, Money, Order, Refund, Store, explain};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::staff::{Member, Role, Suspended, has_role};

/// The tag of tools that cost the shop money.
pub(crate) const PAYS: &str = "pays";

/// Returns the tools that read only.
pub(crate) fn reading() -> [Tool; 2] {
    [
        Tool::new("order_status", "Look up one order by its number", order_status)
            .example("Where is order 1001?", json!({ "order_id": 1001 })),
        Tool::new("list_customers", "List the customers of a city", list_customers)
            .example("Which customers live in Berlin?", json!({ "city": "Berlin" })),
    ]
}

/// Returns the tools that cost the shop money.
pub(crate) fn paying() -> [Tool; 1] {
    [Tool::new("refund_order", "Refund an amount of an order", refund_order)
        .summary(|request: &RefundRequest| format!("{} EUR for order {}", request.amount, request.order_id))
        .example("Refund 20 euros of order 1002", json!({ "order_id": 1002, "amount": 20 }))
        .tag(PAYS)
        .visible_to(has_role(Role::Agent))]
}

/// Returns the tools of the assistant itself.
pub(crate) fn all() -> [Tool; 4] {
    let [order_status, list_customers] = reading();
    let [refund_order] = paying();
    [
        order_status,
        list_customers,
        refund_order,
        Tool::new("suspend_member", "Suspend a member of the staff", suspend_member)
            .example("Suspend member tom", json!({ "name": "tom" }))
            .visible_to(has_role(Role::Admin)),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct OrderQuery {
    /// Number of the order
    order_id: i64,
}

async fn order_status(
    Args(query): Args<OrderQuery>,
    State(store): State<Store>,
) -> Result<Json<Order>, ToolError> {
    store.order(query.order_id).await.map(Json).map_err(explain)
}

#[derive(Deserialize, JsonSchema)]
struct CustomerQuery {
    /// The city
    city: String,
}

async fn list_customers(
    Args(query): Args<CustomerQuery>,
    State(store): State<Store>,
) -> Result<Json<Vec<Customer>>, ToolError> {
    store.customers(Some(query.city)).await.map(Json).map_err(explain)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RefundRequest {
    /// Number of the order
    order_id: i64,
    /// Euros to refund
    pub(crate) amount: f64,
}

async fn refund_order(
    Args(request): Args<RefundRequest>,
    State(store): State<Store>,
) -> Result<Json<Refund>, ToolError> {
    let amount = Money::from_euros(request.amount);
    store.refund(request.order_id, Some(amount)).await.map(Json).map_err(explain)
}

#[derive(Deserialize, JsonSchema)]
struct MemberQuery {
    /// Name of the member, in lower case
    name: String,
}

async fn suspend_member(
    Args(query): Args<MemberQuery>,
    State(suspended): State<Suspended>,
) -> Result<String, ToolError> {
    let member = Member::named(&query.name).ok_or_else(|| ToolError::new("There is no such member."))?;
    suspended.add(member);
    Ok(format!("{} is suspended.", member.name))
}
