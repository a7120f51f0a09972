//! Chooses the model, and describes it for the page and the log.

use std::sync::Arc;
use std::time::Duration;

use omniassist_axum::{
    AnthropicProvider, Error, GeminiProvider, LlmProvider, OpenAiChatProvider, OpenAiProvider,
};

use reqwest::Url;

use super::config::{Api, ModelSource, Protocol};
use super::demo::{Demo, LABEL};
use super::discovery::{Found, discover, first_model};

/// The time that a server from the environment has to list its models.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two words of the demo.
const PACE: Duration = Duration::from_millis(25);

/// The provider and its description for people.
pub(crate) struct Chosen {
    pub provider: Arc<dyn LlmProvider>,
    /// The name of the model, for people.
    pub model: String,
    /// One sentence on where the model runs.
    pub note: String,
}

/// Chooses the model. Looks for a model server on the given ports if the environment names none.
///
/// # Errors
///
/// Fails if the environment names no model and the server lists none, or if a provider refuses its settings.
pub(crate) async fn choose(source: ModelSource, ports: &[(&str, u16)]) -> Result<Chosen, Error> {
    match source {
        ModelSource::Demo => Ok(demo("Fixed rules answer, not a model. See --help for how to use a model.")),
        ModelSource::Api(api) => connect(api).await,
        ModelSource::Discover { model, constrained_tools } => match discover(ports).await.as_slice() {
            [] => Ok(demo(
                "Fixed rules answer, not a model: there is no API key, and this machine runs no model server.",
            )),
            [one] => connect(found(one, model, constrained_tools)).await,
            several => {
                let list: Vec<_> = several
                    .iter()
                    .map(|server| format!("{} ({}, {})", server.name, server.base_url, server.model))
                    .collect();
                Ok(demo(&format!(
                    "Fixed rules answer, not a model. Found {}: set OPENAI_BASE_URL to choose one.",
                    list.join(" and ")
                )))
            }
        },
    }
}

fn found(server: &Found, model: Option<String>, constrained_tools: bool) -> Api {
    tracing::info!(server = %server.name, url = %server.base_url, "found a model server on this machine");
    Api {
        protocol: Protocol::ChatCompletions,
        base_url: Some(server.base_url.clone()),
        key: None,
        model: Some(model.unwrap_or_else(|| server.model.clone())),
        constrained_tools,
    }
}

fn demo(note: &str) -> Chosen {
    Chosen { provider: Arc::new(Demo { pace: PACE }), model: LABEL.to_owned(), note: note.to_owned() }
}

async fn connect(mut api: Api) -> Result<Chosen, Error> {
    if let (None, Protocol::ChatCompletions | Protocol::Responses, Some(url)) =
        (&api.model, api.protocol, api.loopback())
    {
        let first = first_model(url, api.key.as_deref(), PATIENCE).await;
        let unnamed =
            || Error::configuration(format!("OMNIASSIST_MODEL: is not set, and {url} does not list a model"));
        api.model = Some(first.ok_or_else(unnamed)?);
    }
    // Each provider has a default URL and a default model.
    macro_rules! provider {
        ($builder:expr) => {{
            let mut builder = $builder;
            if let Some(key) = &api.key {
                builder = builder.api_key(key);
            }
            if let Some(url) = &api.base_url {
                builder = builder.base_url(url.as_str());
            }
            if let Some(model) = &api.model {
                builder = builder.model(model.as_str());
            }
            Arc::new(builder.build()?)
        }};
    }
    let (provider, protocol): (Arc<dyn LlmProvider>, _) = match api.protocol {
        Protocol::Responses => (provider!(OpenAiProvider::builder()), "Responses API"),
        Protocol::ChatCompletions => (
            provider!(OpenAiChatProvider::builder().constrained_tools(api.constrained_tools)),
            "Chat Completions",
        ),
        Protocol::Anthropic => (provider!(AnthropicProvider::builder()), "Anthropic Messages"),
        Protocol::Gemini => (provider!(GeminiProvider::builder()), "Gemini API"),
    };
    let host = api.base_url.as_ref().map_or(api.protocol.default_base_url(), Url::as_str);
    let model = provider.model().unwrap_or_default().to_owned();
    Ok(Chosen { provider, model, note: format!("{protocol} at {host}") })
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::super::config::HELP;
    use super::*;

    async fn server(model: &'static str) -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let list = format!(r#"{{"data":[{{"id":"{model}"}}]}}"#);
        let router = Router::new().route("/v1/models", get(move || async move { list }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        port
    }

    async fn discovered(model: Option<&str>, ports: &[(&str, u16)]) -> Chosen {
        choose(ModelSource::Discover { model: model.map(str::to_owned), constrained_tools: false }, ports)
            .await
            .unwrap()
    }

    fn api(protocol: Protocol, base_url: Option<&str>, key: Option<&str>) -> ModelSource {
        let base_url = base_url.map(|url| Url::parse(url).unwrap());
        ModelSource::Api(Api {
            protocol,
            base_url,
            key: key.map(str::to_owned),
            model: None,
            constrained_tools: false,
        })
    }

    #[tokio::test]
    async fn one_server_is_used_and_several_are_only_listed() {
        let (one, two) = (server("small").await, server("large").await);
        let chosen = discovered(None, &[("A", one)]).await;
        assert_eq!((chosen.provider.model(), chosen.model.as_str()), (Some("small"), "small"));
        assert_eq!(chosen.note, format!("Chat Completions at http://127.0.0.1:{one}/v1"));
        assert_eq!(discovered(Some("mine"), &[("A", one)]).await.model, "mine");
        let chosen = discovered(None, &[("A", one), ("B", two)]).await;
        assert_eq!((chosen.provider.name(), chosen.model.as_str()), ("demo", LABEL));
        for part in ["A (http", "small", "B (http", "large", "OPENAI_BASE_URL"] {
            assert!(chosen.note.contains(part), "{part}: {}", chosen.note);
        }
        let chosen = discovered(None, &[]).await;
        assert_eq!(chosen.provider.name(), "demo");
        assert!(chosen.note.contains("no model"));
    }

    #[tokio::test]
    async fn a_named_server_on_this_machine_gives_its_first_model() {
        let url = format!("http://127.0.0.1:{}/v1", server("first").await);
        let chosen = choose(api(Protocol::ChatCompletions, Some(&url), None), &[]).await.unwrap();
        assert_eq!(chosen.model, "first");
        let closed = {
            let socket = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            format!("http://127.0.0.1:{}/v1", socket.local_addr().unwrap().port())
        };
        let error = choose(api(Protocol::ChatCompletions, Some(&closed), None), &[]).await.err().unwrap();
        assert!(error.is_configuration() && error.to_string().starts_with("OMNIASSIST_MODEL"), "{error}");
    }

    #[tokio::test]
    async fn help_names_the_default_models() {
        for protocol in
            [Protocol::Responses, Protocol::ChatCompletions, Protocol::Anthropic, Protocol::Gemini]
        {
            let chosen = choose(api(protocol, None, Some("sk-test")), &[]).await.unwrap();
            assert!(HELP.contains(&chosen.model), "{}", chosen.model);
            assert!(!chosen.note.contains("sk-test"));
        }
    }
}
