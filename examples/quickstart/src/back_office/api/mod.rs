//! The page, its JSON API, and the headers that protect both.

use std::fmt::Write as _;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;

use super::store::{Customer, NewTicket, Order, OrderFilter, Store, StoreError, Ticket};

const INDEX: &str = include_str!("../../../page/index.html");
const FILES: [(&str, &str, &str); 3] = [
    ("/app.js", "text/javascript; charset=utf-8", include_str!("../../../page/app.js")),
    ("/icon.svg", "image/svg+xml", include_str!("../../../page/icon.svg")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../../../page/style.css")),
];

/// Allows scripts, styles, images and connections of this origin only, and no frame of another site.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/// The security headers of every response.
pub const HEADERS: [(&str, &str); 4] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Returns the routes of the page and its API. The page shows the name of the model and a note about it.
pub(crate) fn router(store: Store, model: &str, note: &str) -> Router {
    let page = INDEX.replace("{{model}}", &escaped(model)).replace("{{note}}", &escaped(note));
    let mut router = Router::new()
        .route("/", get(move || async move { ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page) }))
        .route("/api/orders", get(orders))
        .route("/api/orders/{id}", get(order))
        .route("/api/customers", get(customers))
        .route("/api/tickets", get(tickets).post(create_ticket))
        .route("/api/report.csv", get(report));
    for (path, kind, text) in FILES {
        router = router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }));
    }
    router.with_state(store)
}

/// Middleware that refuses requests for another host than this machine, and adds [`HEADERS`] to each response.
///
/// This server has no login, so a page of another site must not reach it with a name that points at 127.0.0.1 (DNS
/// rebinding).
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let mut response = match named.or_else(|| request.uri().authority().map(|authority| authority.as_str())) {
        Some(host) if is_for_this_machine(host) => next.run(request).await,
        _ => Failure {
            status: StatusCode::MISDIRECTED_REQUEST,
            text: "This server answers requests for 127.0.0.1 only.".into(),
        }
        .into_response(),
    };
    for (name, value) in HEADERS {
        // The assistant has a policy of its own for some of its pages.
        let header = response.headers_mut().entry(HeaderName::from_static(name));
        header.or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Returns `true` if the value of a `Host` header names this machine.
#[must_use]
pub fn is_for_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|local| name.eq_ignore_ascii_case(local))
}

async fn orders(State(store): State<Store>) -> Result<Json<Vec<Order>>, Failure> {
    let filter = OrderFilter { status: None, customer: None, min_total: None, limit: 100 };
    Ok(Json(store.search_orders(filter).await?.0))
}

async fn order(State(store): State<Store>, Path(id): Path<i64>) -> Result<Json<Order>, Failure> {
    Ok(Json(store.order(id).await?))
}

async fn customers(State(store): State<Store>) -> Result<Json<Vec<Customer>>, Failure> {
    Ok(Json(store.customers(None).await?))
}

async fn tickets(State(store): State<Store>) -> Result<Json<Vec<Ticket>>, Failure> {
    Ok(Json(store.tickets().await?))
}

async fn create_ticket(
    State(store): State<Store>,
    Json(new): Json<NewTicket>,
) -> Result<(StatusCode, Json<Ticket>), Failure> {
    Ok((StatusCode::CREATED, Json(store.create_ticket(new).await?)))
}

async fn report(State(store): State<Store>) -> Result<impl IntoResponse, Failure> {
    let mut text = "month,orders,sales\n".to_owned();
    for month in store.months().await? {
        let report = store.report(month).await?;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{},{}", report.month, report.orders, report.sales);
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"report.csv\""),
    ];
    Ok((headers, text))
}

/// An error of the API, sent as `{"error": "…"}`.
#[derive(Debug)]
struct Failure {
    status: StatusCode,
    text: String,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if error.is_refusal() {
            let status =
                if error.is_not_found() { StatusCode::NOT_FOUND } else { StatusCode::UNPROCESSABLE_ENTITY };
            return Self { status, text: error.to_string() };
        }
        tracing::error!(error = &error as &dyn std::error::Error, "request failed");
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, text: "The back office failed.".into() }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.text}))).into_response()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
