//! Looks for a model server on this machine. It sends `GET /v1/models` to all usual ports at the same time.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::{Client, Url, redirect};
use serde::Deserialize;

/// The time that a server on this machine has to list its models.
const PATIENCE: Duration = Duration::from_millis(300);
/// The largest list of models in bytes. A real list has a few kilobytes.
const LIST_LIMIT: usize = 1 << 20;

/// The usual ports of model servers.
pub(crate) const USUAL_PORTS: [(&str, u16); 3] =
    [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080)];

/// A server that lists at least one model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The usual server at that port.
    pub name: String,
    pub base_url: Url,
    /// The first listed model that can chat.
    pub model: String,
}

/// Returns the servers that answer with a model at the given ports of 127.0.0.1, in order. Takes at most 300 ms.
pub(crate) async fn discover(ports: &[(&str, u16)]) -> Vec<Found> {
    let Some(client) = client(PATIENCE) else { return Vec::new() };
    let asked = ports.iter().map(|&(name, port)| {
        let client = client.clone();
        async move {
            let base_url = Url::parse(&format!("http://127.0.0.1:{port}/v1")).ok()?;
            let model = list(&client, &base_url, None).await?;
            Some(Found { name: name.to_owned(), base_url, model })
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Returns the first listed model that can chat. `None`: the server sent no list of models in time.
pub(crate) async fn first_model(base_url: &Url, key: Option<&str>, patience: Duration) -> Option<String> {
    list(&client(patience)?, base_url, key).await
}

fn client(patience: Duration) -> Option<Client> {
    // A proxy or a redirect would lead to another machine.
    Client::builder().no_proxy().redirect(redirect::Policy::none()).timeout(patience).build().ok()
}

async fn list(client: &Client, base_url: &Url, key: Option<&str>) -> Option<String> {
    let mut request = client.get(format!("{base_url}/models"));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let mut response = request.send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > LIST_LIMIT {
            return None;
        }
    }
    let list: ModelList = serde_json::from_slice(&body).ok()?;
    // LM Studio also lists embedding models, which cannot chat.
    list.data.into_iter().map(|model| model.id).find(|id| !id.contains("embed"))
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::Router;
    use axum::response::Redirect;
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::*;

    async fn serve(router: Router) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, router).await });
        port
    }

    async fn models(body: &'static str) -> u16 {
        serve(Router::new().route("/v1/models", get(move || async move { body }))).await
    }

    #[tokio::test]
    async fn servers_that_list_a_model_are_found_in_order() {
        let one = models(r#"{"data":[{"id":"text-embedding-x"},{"id":"small"},{"id":"big"}]}"#).await;
        let two = models(r#"{"object":"list","data":[{"id":"other","owned_by":"me"}]}"#).await;
        let found = discover(&[("A", one), ("B", two)]).await;
        let names: Vec<_> =
            found.iter().map(|server| (server.name.as_str(), server.model.as_str())).collect();
        assert_eq!(names, [("A", "small"), ("B", "other")]);
        assert_eq!(found[0].base_url.as_str(), format!("http://127.0.0.1:{one}/v1"));
    }

    #[tokio::test]
    async fn other_answers_than_a_list_of_models_are_ignored() {
        let none_loaded = models(r#"{"object":"list","data":null}"#).await;
        let empty = models(r#"{"data":[]}"#).await;
        let page = models("<!doctype html>").await;
        let elsewhere = models(r#"{"data":[{"id":"away"}]}"#).await;
        let target = format!("http://127.0.0.1:{elsewhere}/v1/models");
        let redirects =
            serve(Router::new().route("/v1/models", get(move || async move { Redirect::to(&target) }))).await;
        let refused = serve(Router::new()).await;
        let closed = {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            listener.local_addr().unwrap().port()
        };
        let ports = [none_loaded, empty, page, redirects, refused, closed].map(|port| ("x", port));
        assert_eq!(discover(&ports).await, []);
    }

    #[tokio::test]
    async fn silence_costs_300_ms_once() {
        let mut deaf = Vec::new();
        for _ in 0..20 {
            deaf.push(TcpListener::bind(("127.0.0.1", 0)).await.unwrap());
        }
        let ports: Vec<_> = deaf.iter().map(|socket| ("deaf", socket.local_addr().unwrap().port())).collect();
        let start = Instant::now();
        assert_eq!(discover(&ports).await, []);
        let took = start.elapsed();
        // In sequence, the requests would take 6 seconds.
        assert!(took >= PATIENCE && took < PATIENCE * 15, "{took:?}");
    }
}
