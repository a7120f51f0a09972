//! The HTTP service that the document describes. It depends on no assistant, and could be written in any language.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, extract};
use serde::Deserialize;
use serde_json::{Value, json};

/// The token of the assistant.
pub(crate) const TOKEN: &str = "warehouse-token";

const ARTICLES: [(&str, u32); 3] = [("chair", 120), ("desk", 7), ("lamp", 42)];

#[derive(Deserialize)]
struct Length {
    most: Option<usize>,
}

#[derive(Deserialize)]
struct Order {
    article: String,
    pieces: u32,
}

pub(crate) fn router() -> Router {
    Router::new()
        .route("/articles", get(list))
        .route("/articles/{article}", delete(remove))
        .route("/articles/{article}/stock", get(stock))
        .route("/orders", post(order))
        .layer(from_fn(check_token))
}

async fn check_token(request: Request, next: Next) -> Response {
    let sent = request.headers().get(AUTHORIZATION);
    if sent.is_none_or(|sent| sent.as_bytes() != format!("Bearer {TOKEN}").as_bytes()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    tracing::info!("{} {}", request.method(), request.uri());
    next.run(request).await
}

async fn list(Query(length): Query<Length>) -> Json<Value> {
    let names = ARTICLES.iter().take(length.most.unwrap_or(10)).map(|(name, _)| *name);
    Json(json!({ "articles": names.collect::<Vec<_>>() }))
}

async fn stock(Path(article): Path<String>) -> Result<Json<Value>, StatusCode> {
    let found = ARTICLES.iter().find(|(name, _)| *name == article);
    found
        .map(|(name, pieces)| Json(json!({ "article": name, "pieces": pieces })))
        .ok_or(StatusCode::NOT_FOUND)
}

async fn order(extract::Json(order): extract::Json<Order>) -> Json<Value> {
    Json(json!({ "ordered": order.pieces, "article": order.article }))
}

async fn remove() -> StatusCode {
    StatusCode::NO_CONTENT
}
