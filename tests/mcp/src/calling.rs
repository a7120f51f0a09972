//! `omniassist-mcp-calling URL` is the client of the official suite: an assistant whose model calls each tool of the server at
//! the URL. It authorizes itself as a user with a browser would. The suite sets the scenario in the environment.

#![expect(clippy::print_stdout, reason = "the suite keeps what its client prints")]

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use http::header::LOCATION;
use omniassist_mcp::client::{McpApproval, McpAuth, McpServer, MemoryCredentialStore, OAuth};
use omniassist_server::core::{RunRequest, TranscriptItem};
use omniassist_server::outbound::OutboundPolicy;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Principal};
use serde_json::{Map, Value, json};

type AnyError = Box<dyn Error + Send + Sync>;

const REDIRECT: &str = "http://localhost:3000/callback";

/// The document that the suite knows.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The authorizations before the program gives up.
const MOST_AUTHORIZATIONS: usize = 3;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let url = env::args().nth(1).ok_or("usage: omniassist-mcp-calling URL")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let mut server = McpServer::http("suite", url).approval(McpApproval::Never);
    if scenario.starts_with("auth/") {
        server = server.auth(McpAuth::oauth(oauth(&context)));
    }
    let server = Arc::new(server);
    let model = model();
    let assistant = Assistant::builder(model.clone()).tool_source(Arc::clone(&server)).build()?;
    let client = Client { assistant, model, user: Principal::new("user") };
    for _ in 0..=MOST_AUTHORIZATIONS {
        if client.call_tools(&context).await? {
            return Ok(());
        }
        authorize(&server, &client.user).await?;
    }
    Err("the server wants to be authorized again and again".into())
}

fn oauth(context: &Value) -> OAuth {
    // The suite listens on ports of its choice.
    let policy = (1024..=u16::MAX).fold(OutboundPolicy::new(), OutboundPolicy::allow_port);
    let oauth = OAuth::new(MemoryCredentialStore::new())
        .redirect(REDIRECT)
        .client_metadata(CLIENT_METADATA)
        .outbound(policy.allow_internal_host("localhost"));
    match (context["client_id"].as_str(), context["client_secret"].as_str()) {
        (Some(id), Some(secret)) => oauth.client_with_secret(id, secret),
        _ => oauth,
    }
}

/// Returns a model that calls the tool that the user names, with the arguments after the name.
fn model() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| match payload.transcript.last() {
        Some(TranscriptItem::User { content }) => {
            let said = serde_json::to_value(content).unwrap_or_default();
            match said.pointer("/0/text").and_then(Value::as_str).and_then(|said| said.split_once(' ')) {
                Some((tool, arguments)) => {
                    call(tool.to_owned(), serde_json::from_str::<Value>(arguments).unwrap_or_default())
                }
                None => text("Hello."),
            }
        }
        Some(TranscriptItem::Result(result)) => text(result.output_text().to_string()),
        _ => text(""),
    })
}

struct Client {
    assistant: Assistant,
    model: ScriptedProvider,
    user: Principal,
}

impl Client {
    /// Calls each tool of the server. Returns `false` if the user has to authorize first.
    async fn call_tools(&self, context: &Value) -> Result<bool, AnyError> {
        // A run waits for the connection of its user. That of a server without users is made beside the start.
        for _ in 0..100 {
            self.run("hello").await?;
            if self.state().await != "connecting" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        self.run("hello").await?;
        if self.state().await == "authorization_needed" {
            return Ok(false);
        }
        let offered = self.model.payloads().pop().map(|payload| payload.tools.clone()).unwrap_or_default();
        let calls: Vec<(String, Value)> = match context["toolCalls"].as_array() {
            Some(calls) => calls
                .iter()
                .map(|call| {
                    let name = call["name"].as_str().unwrap_or_default();
                    (format!("suite_{name}"), call["arguments"].clone())
                })
                .collect(),
            None => {
                offered.iter().map(|tool| (tool.name.to_string(), arguments(&tool.input_schema))).collect()
            }
        };
        for (tool, arguments) in calls {
            let mut told = self.run(&format!("{tool} {arguments}")).await?;
            println!("{tool} {arguments}: {told}");
            if told.contains("null is not of type") {
                // A model that reads this leaves the argument out.
                let arguments = without_nulls(arguments);
                told = self.run(&format!("{tool} {arguments}")).await?;
                println!("{tool} {arguments}: {told}");
            }
            if self.state().await == "authorization_needed" {
                return Ok(false);
            }
        }
        println!("state: {}", self.state().await);
        Ok(true)
    }

    async fn run(&self, said: &str) -> Result<String, AnyError> {
        let run = self.assistant.try_run(RunRequest::prompt(said.to_owned()), self.extensions()).await?;
        Ok(run.text().await?)
    }

    /// Returns the state of the server in the manifest of the user.
    async fn state(&self) -> String {
        let sources = self.assistant.visible_sources(&self.extensions()).await;
        sources.first().map(|source| source.state.as_str().to_owned()).unwrap_or_default()
    }

    fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::new();
        extensions.insert(self.user.clone());
        extensions
    }
}

fn without_nulls(arguments: Value) -> Value {
    match arguments {
        Value::Object(arguments) => arguments.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        arguments => arguments,
    }
}

/// Returns arguments that fit a schema, for the parameters that it requires.
fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let argument =
        |name: &str| match schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str) {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            _ => json!("value"),
        };
    Value::Object(required.map(|name| (name.to_owned(), argument(name))).collect::<Map<_, _>>())
}

/// Authorizes the application as a user does, whose browser follows one redirect.
async fn authorize(server: &McpServer, user: &Principal) -> Result<(), AnyError> {
    let url = server.authorization_url(user).await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let response = browser.get(url).send().await?;
    let location = response.headers().get(LOCATION).ok_or("the authorization server does not redirect")?;
    let (_, query) = location.to_str()?.split_once('?').ok_or("the redirect has no query")?;
    Ok(server.finish_authorization(user, query).await?)
}
