//! The tools of the assistant: seven run here, on the data of the back office, three run in the page, and one object is
//! written by the model alone. A refund pays money, so each call of it waits for the user's approval.
//!
//! A tool is an async function. Its parameters are extractors, and the JSON Schema of its arguments comes from the
//! type inside [`Args`], with its doc comments. Small models choose a tool by its description and its examples, so the
//! descriptions are short. People see the title of a tool and the summary of a call.

use std::time::Duration;

use omniassist_axum::tool::Approval;
use omniassist_axum::{Args, Json, ObjectEndpoint, State, Tool, ToolContext, ToolError};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::back_office::{
    Customer, Money, NewTicket, Order, OrderFilter, OrderStatus, Priority, Refund, RegionSales, Report,
    Store, StoreError, Ticket,
};

/// The number of orders that a search returns by default.
const FEW: u32 = 10;
/// The least time for one month of the report. It makes the progress visible.
const REPORT_PACE: Duration = Duration::from_millis(600);

/// Returns all tools. The summary of a refund reads the order from `store`.
pub(crate) fn all(store: &Store) -> Vec<Tool> {
    let store = store.clone();
    vec![
        Tool::new("order_status", "Look up one order by its number", order_status)
            .title("Look up order")
            .summary(|query: &OrderQuery| format!("Order {}", query.order_id))
            .example("Where is order 1001?", json!({"order_id": 1001}))
            .example("What is the status of order 1012?", json!({"order_id": 1012})),
        Tool::new("search_orders", "List orders by status, customer or least total", search_orders)
            .title("Search orders")
            .example("Which orders are pending?", json!({"status": "pending"}))
            .example(
                "Show all orders of Ada Lovelace over 100 euros",
                json!({"customer": "Ada Lovelace", "min_total": 100}),
            )
            .example("List the last 5 shipped orders", json!({"status": "shipped", "limit": 5})),
        Tool::new("list_customers", "List the customers, of one city or all", list_customers)
            .title("List customers")
            .summary(|query: &CustomerQuery| query.city.clone().unwrap_or_default())
            .example("Which customers live in Berlin?", json!({"city": "Berlin"})),
        Tool::new("create_ticket", "Create a support ticket", create_ticket)
            .title("Create ticket")
            .summary(|draft: &TicketDraft| draft.subject.clone())
            .example(
                "Create a high priority ticket: The lamp is broken",
                json!({"subject": "The lamp is broken", "priority": "high"}),
            )
            .example(
                "Create a ticket for order 1003: Parcel is lost",
                json!({"subject": "Parcel is lost", "order_id": 1003}),
            ),
        Tool::new("refund_order", "Refund an order, wholly or an amount of it", refund_order)
            .title("Refund order")
            .summary(move |request: &RefundRequest| refund_summary(&store, request))
            .requires_approval(Approval::always().message("Give this money back?"))
            .example("Refund order 1002", json!({"order_id": 1002}))
            .example("Refund 20 euros of order 1005", json!({"order_id": 1005, "amount": 20})),
        Tool::new("export_report", "Export the sales report, month by month (slow)", export_report)
            .title("Export sales report")
            .example("Export the sales report", json!({})),
        Tool::new("sales_by_region", "Sum up the sales of each region", sales_by_region)
            .title("Sales by region")
            .example("Show sales by region", json!({})),
        Tool::front_end::<Navigate>("navigate", "Open a page of the back office for the user")
            .title("Open page")
            .summary(|target: &Navigate| target.summary())
            .example("Open the customers page", json!({"page": "customers"}))
            .example("Go to the page of order 1004", json!({"page": "orders", "order_id": 1004})),
        Tool::front_end::<FillForm>(
            "fill_form",
            "Fill in the ticket form on the page; the user checks and sends it",
        )
        .title("Fill in ticket form")
        .summary(|form: &FillForm| form.subject.clone())
        .example("Fill in the form: Late delivery", json!({"subject": "Late delivery"}))
        .example(
            "Fill the ticket form with low priority: Wrong colour",
            json!({"subject": "Wrong colour", "priority": "low"}),
        ),
        Tool::request_input()
            .title("Ask for details")
            .example("Ask me for my address", address_form())
            .example("Open a complaint form", complaint_form()),
    ]
}

/// Returns an object that the model writes from the words of a customer (`useObject` of the AI SDK).
pub(crate) fn ticket_object() -> ObjectEndpoint {
    ObjectEndpoint::new::<TicketDraft>("ticket", "Draft a support ticket from what the customer says.")
}

/// Returns a form as a model writes it: a question, and a JSON Schema with one property for each field.
fn address_form() -> Value {
    json!({
        "message": "Where should it be sent?",
        "schema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name"},
                "street": {"type": "string", "title": "Street and number"},
                "city": {"type": "string", "title": "City"},
                "country": {"type": "string", "title": "Country", "enum": ["Austria", "Germany", "Switzerland"]}
            },
            "required": ["name", "street", "city"]
        }
    })
}

fn complaint_form() -> Value {
    json!({
        "message": "What went wrong?",
        "schema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "integer", "title": "Order", "description": "Its number, such as 1002", "minimum": 1001},
                "reason": {"type": "string", "title": "Reason", "enum": ["damaged", "late", "wrong item"]},
                "noticed_on": {"type": "string", "format": "date", "title": "Noticed on"},
                "email": {"type": "string", "format": "email", "title": "E-mail", "description": "For our answer"},
                "compensation": {"type": "number", "title": "Compensation in euros", "minimum": 0},
                "call_back": {"type": "boolean", "title": "Please call me back"}
            },
            "required": ["order_id", "reason", "email"]
        }
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
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

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
struct OrderSearch {
    /// Only orders with this status
    status: Option<OrderStatus>,
    /// Only orders of this customer; part of the name
    customer: Option<String>,
    /// Only orders of at least this many euros
    min_total: Option<f64>,
    /// At most so many orders; 10 if left out
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize)]
struct FoundOrders {
    /// The number of all orders that match; `orders` may hold only the first of them.
    found: i64,
    orders: Vec<Order>,
}

async fn search_orders(
    Args(search): Args<OrderSearch>,
    State(store): State<Store>,
) -> Result<Json<FoundOrders>, ToolError> {
    let filter = OrderFilter {
        status: search.status,
        customer: search.customer,
        min_total: search.min_total.map(Money::from_euros),
        limit: search.limit.unwrap_or(FEW),
    };
    let (orders, found) = store.search_orders(filter).await.map_err(explain)?;
    Ok(Json(FoundOrders { found, orders }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
struct CustomerQuery {
    /// Only customers of this city
    city: Option<String>,
}

async fn list_customers(
    Args(query): Args<CustomerQuery>,
    State(store): State<Store>,
) -> Result<Json<Vec<Customer>>, ToolError> {
    store.customers(query.city).await.map(Json).map_err(explain)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
struct TicketDraft {
    /// Subject in a few words
    #[schemars(length(min = 1, max = 200))]
    subject: String,
    /// Further details
    #[serde(default)]
    details: String,
    /// Urgency
    #[serde(default)]
    priority: Priority,
    /// Number of the order that it concerns
    order_id: Option<i64>,
}

async fn create_ticket(
    Args(draft): Args<TicketDraft>,
    State(store): State<Store>,
) -> Result<Json<Ticket>, ToolError> {
    let TicketDraft { subject, details, priority, order_id } = draft;
    store.create_ticket(NewTicket { subject, details, priority, order_id }).await.map(Json).map_err(explain)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
struct RefundRequest {
    /// Number of the order
    order_id: i64,
    /// Euros to refund; all if left out
    amount: Option<f64>,
}

/// Returns the amount, the customer and the item for the question that the user approves.
///
/// It runs on an executor thread; one row of SQLite takes microseconds.
fn refund_summary(store: &Store, request: &RefundRequest) -> String {
    let Ok(order) = store.order_now(request.order_id) else { return format!("Order {}", request.order_id) };
    let amount = request.amount.map_or(order.total.minus(order.refunded), Money::from_euros);
    format!("{amount} to {} for order {} ({} × {})", order.customer, order.id, order.quantity, order.item)
}

async fn refund_order(
    Args(request): Args<RefundRequest>,
    State(store): State<Store>,
) -> Result<Json<Refund>, ToolError> {
    store.refund(request.order_id, request.amount.map(Money::from_euros)).await.map(Json).map_err(explain)
}

async fn sales_by_region(State(store): State<Store>) -> Result<Json<Vec<RegionSales>>, ToolError> {
    store.regions().await.map(Json).map_err(explain)
}

#[derive(Debug, Serialize)]
struct ExportProgress {
    done: usize,
    of: usize,
    month: String,
}

#[derive(Debug, Serialize)]
struct ExportedReport {
    /// The path of the file on this server.
    file: &'static str,
    months: Vec<Report>,
    total: Money,
}

/// Exports the report month by month, with a progress event for each month.
///
/// The export ends as soon as the user stops the run. Without the `select!`, it would end at an `await` after the
/// grace time.
async fn export_report(
    State(store): State<Store>,
    call: ToolContext,
) -> Result<Json<ExportedReport>, ToolError> {
    let names = store.months().await.map_err(explain)?;
    let of = names.len();
    let mut months = Vec::with_capacity(of);
    for (done, month) in names.into_iter().enumerate() {
        call.progress(ExportProgress { done, of, month: month.clone() });
        tokio::select! {
            () = tokio::time::sleep(REPORT_PACE) => {}
            () = call.cancelled() => return Err(ToolError::new("The export was stopped.")),
        }
        months.push(store.report(month).await.map_err(explain)?);
    }
    let cents = months.iter().map(|report| report.sales.cents()).sum();
    Ok(Json(ExportedReport { file: "/api/report.csv", months, total: Money::from_cents(cents) }))
}

/// A page of the back office.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Page {
    Orders,
    Customers,
    Tickets,
    NewTicket,
}

/// The arguments of `navigate`, which runs in the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
struct Navigate {
    /// The page to open
    page: Page,
    /// With page orders: open this one order
    order_id: Option<i64>,
}

impl Navigate {
    fn summary(&self) -> String {
        match (&self.page, self.order_id) {
            (Page::Orders, Some(id)) => format!("Order {id}"),
            (Page::Orders, None) => "Orders".to_owned(),
            (Page::Customers, _) => "Customers".to_owned(),
            (Page::Tickets, _) => "Tickets".to_owned(),
            (Page::NewTicket, _) => "New ticket".to_owned(),
        }
    }
}

/// The arguments of `fill_form`, which runs in the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
#[expect(dead_code, reason = "the page reads the arguments")]
struct FillForm {
    /// Subject in a few words
    subject: String,
    /// Further details
    #[serde(default)]
    details: String,
    /// Urgency
    #[serde(default)]
    priority: Priority,
    /// Number of the order that it concerns
    order_id: Option<i64>,
}

/// Removes `null` from the types of a schema: an optional argument may be left out, and `null` confuses small models.
fn plain(schema: &mut Schema) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|all| all.values_mut()).filter_map(Value::as_object_mut) {
        for key in ["type", "enum"] {
            if let Some(Value::Array(words)) = property.get_mut(key) {
                words.retain(|word| *word != json!("null") && !word.is_null());
            }
        }
        if let Some([one]) = property.get("type").and_then(Value::as_array).map(Vec::as_slice) {
            let one = one.clone();
            property.insert("type".to_owned(), one);
        }
    }
}

/// Turns a refusal into an error with its own text. The text of any other error stays in the log.
#[must_use]
pub fn explain(error: StoreError) -> ToolError {
    if error.is_refusal() { ToolError::new(error.to_string()) } else { error.into() }
}

#[cfg(test)]
mod tests;
