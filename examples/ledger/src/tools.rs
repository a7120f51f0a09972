//! The tools of the ledger.

use std::time::Duration;

use omniassist_axum::tool::{Approval, ApprovalDecision, Json, ToolContext};
use omniassist_axum::{Args, Principal, State, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::book::{Book, Refusal};

/// The largest transfer without an approval, in cents.
const SMALL: i64 = 10_000;

/// The largest transfer with an approval, in cents.
const LARGE: i64 = 1_000_000;

const PAGES: u32 = 4;
const PAGE_TIME: Duration = Duration::from_millis(40);

#[derive(Deserialize, JsonSchema)]
struct Account {
    /// Name of the account.
    account: String,
}

#[derive(Deserialize, JsonSchema)]
struct Transfer {
    /// Account to take from.
    from: String,
    /// Account to give to.
    to: String,
    /// The amount in cents.
    #[schemars(range(min = 1))]
    cents: i64,
}

#[derive(Serialize)]
struct Balance {
    account: String,
    cents: i64,
}

pub(crate) fn all() -> [Tool; 6] {
    let of_size = Approval::decide(|transfer: &Transfer, user: &Principal| match transfer.cents {
        ..=SMALL => ApprovalDecision::Allow,
        _ if transfer.cents > LARGE => ApprovalDecision::Refuse("Too much for one transfer.".into()),
        _ if user.is_anonymous() => ApprovalDecision::Refuse("Sign in to move more than 100.00.".into()),
        _ => ApprovalDecision::Ask,
    });
    [
        Tool::new("balance", "What is on an account, in cents", balance),
        Tool::new("transfer", "Moves money between two accounts", transfer)
            .requires_approval(of_size.message("Make this transfer?")),
        Tool::new("close_account", "Closes an account for good", close_account)
            .requires_approval(Approval::always()),
        Tool::new("statement", "Writes the statement of an account", statement),
        Tool::front_end::<Account>("show_account", "Opens an account on the user's screen"),
        Tool::request_input(),
    ]
}

async fn balance(
    Args(query): Args<Account>,
    State(book): State<Book>,
    call: ToolContext,
) -> Result<Json<Balance>, ToolError> {
    book.note(&call);
    let cents = book.balance(&query.account)?;
    Ok(Json(Balance { account: query.account, cents }))
}

async fn transfer(
    Args(order): Args<Transfer>,
    State(book): State<Book>,
    call: ToolContext,
) -> Result<Json<Balance>, ToolError> {
    book.note(&call);
    let cents = book.transfer(&order.from, &order.to, order.cents)?;
    Ok(Json(Balance { account: order.from, cents }))
}

async fn close_account(
    Args(query): Args<Account>,
    State(book): State<Book>,
    call: ToolContext,
) -> Result<String, ToolError> {
    book.note(&call);
    let cents = book.close(&query.account)?;
    Ok(format!("`{}` is closed; {cents} cents were on it.", query.account))
}

/// Writes a statement slowly and shows every kind of progress: preliminary outputs, data that stays with the message,
/// transient data for each page, and the state that AG-UI clients share.
async fn statement(
    Args(query): Args<Account>,
    State(book): State<Book>,
    call: ToolContext,
) -> Result<Json<Balance>, ToolError> {
    book.note(&call);
    let cents = book.balance(&query.account)?;
    for page in 1..=PAGES {
        call.progress(json!({ "page": page, "of": PAGES }));
        call.data("statement", Some(&query.account), json!({ "pages": page }));
        call.transient_data("page", json!({ "page": page }));
        call.update_shared_state(|state| *state = json!({ "statement": { "pages": page } }));
        tokio::select! {
            () = tokio::time::sleep(PAGE_TIME) => {}
            () = call.cancelled() => return Err(ToolError::new("The statement was stopped.")),
        }
    }
    call.data("receipt", None, json!({ "account": query.account, "pages": PAGES }));
    Ok(Json(Balance { account: query.account, cents }))
}

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.to_string())
    }
}
