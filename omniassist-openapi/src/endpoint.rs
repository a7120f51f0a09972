//! One operation of a server, as a tool calls it.

use std::sync::Arc;

use http::header::{ACCEPT, AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue, Method};
use omniassist_server::core::JsonText;
use omniassist_server::outbound::OutboundError;
use omniassist_server::{Approval, Principal, Tool, ToolContext, ToolError};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::auth::{self, Auth};
use crate::document::{Location, Operation, Scheme, Template};
use crate::request::{Request, build, encode, long_integer, path_of};
use crate::selector::Selector;
use crate::settings::Connection;
use crate::{response, text};

/// The cap of outputs for responses of few bytes. It is that of errors too.
const MIN_OUTPUT_BYTES: usize = 8 << 10;

/// The maximum number of bytes of a summary that people read as the title of the tool.
const MAX_TITLE: usize = 80;

/// The maximum number of bytes of a path that people read with its arguments. The end of a longer one could be cut off.
const MAX_PATH: usize = 200;

pub(crate) struct Endpoint {
    connection: Arc<Connection>,
    method: Method,
    template: Template,
    arguments: Arguments,
    credentials: Vec<(Scheme, Auth)>,
    selector: Option<Selector>,
}

/// Makes a tool of an operation.
pub(crate) fn tool(
    name: String,
    operation: &Operation,
    mut arguments: Arguments,
    connection: &Arc<Connection>,
    credentials: Vec<(Scheme, Auth)>,
    selector: Option<Selector>,
) -> Tool {
    let line = format!("{} {}", operation.method, operation.template.text);
    let description =
        text::of_operation(operation.summary.as_deref(), operation.description.as_deref(), &line);
    let schema = std::mem::take(&mut arguments.schema);
    let is_safe = matches!(operation.method, Method::GET | Method::HEAD);
    let endpoint = Arc::new(Endpoint {
        connection: Arc::clone(connection),
        method: operation.method.clone(),
        template: operation.template.clone(),
        arguments,
        credentials,
        selector,
    });
    let called = Arc::clone(&endpoint);
    let call = move |arguments: Value, call: ToolContext| {
        let endpoint = Arc::clone(&endpoint);
        async move {
            if let Some(place) = long_integer(call.arguments()) {
                return Err(ToolError::new(format!(
                    "The integer at `{place}` has more than 64 bits, so its digits would be lost. Nothing was sent."
                )));
            }
            endpoint.call(&arguments, call.run().principal()).await
        }
    };
    let tool = Tool::from_fn_with_schema(name, description, schema, call)
        .max_output_bytes(connection.max_response_bytes.max(MIN_OUTPUT_BYTES))
        .summary(move |arguments: &Value| called.summary(arguments));
    let title = operation.summary.as_deref().map(text::description);
    let is_title = |title: &String| (1..=MAX_TITLE).contains(&title.len()) && !title.contains('\n');
    let tool = title.filter(is_title).into_iter().fold(tool, Tool::title);
    let tool = operation.tags.iter().fold(tool, |tool, tag| tool.tag(tag.as_str()));
    match is_safe {
        true => tool.read_only(),
        false if connection.writes_need_approval => tool.requires_approval(Approval::always()),
        false => tool,
    }
}

impl Endpoint {
    /// Returns the method and the path as they are sent, or the path with its placeholders if it is long or not valid.
    fn summary(&self, arguments: &Value) -> String {
        let path = arguments
            .as_object()
            .and_then(|arguments| path_of(&self.template, &self.arguments, arguments).ok());
        let path = path.filter(|path| path.len() <= MAX_PATH);
        format!("{} {}", self.method, path.as_deref().unwrap_or(&self.template.text))
    }

    async fn call(&self, arguments: &Value, user: &Principal) -> Result<JsonText, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new("The arguments must be an object."));
        };
        let server = &self.connection.server.base;
        let mut request = build(&self.method, server, &self.template, &self.arguments, arguments)?;
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        let mut secrets = Vec::new();
        for (name, value) in &self.connection.headers {
            let scheme = Scheme::ApiKey { location: Location::Header, name: name.as_str().to_owned() };
            authorise(&mut request, &scheme, value, user, &mut secrets).await?;
        }
        for (scheme, auth) in &self.credentials {
            authorise(&mut request, scheme, auth, user, &mut secrets).await?;
        }
        let request = finish(request)?;
        let response = self.connection.client.send(request).await.map_err(|error| self.failed(error))?;
        response::read(&response, &secrets, self.selector.as_ref())
    }

    fn failed(&self, error: OutboundError) -> ToolError {
        let is_safe = matches!(self.method, Method::GET | Method::HEAD);
        let text = match (error.is_unsent(), error.is_timeout()) {
            (true, _) => "The server could not be reached. Nothing was sent.",
            (_, true) if is_safe => "The server did not answer in time.",
            (_, true) => "The server did not answer in time. The request may have taken effect.",
            _ if is_safe => "The connection to the server was lost.",
            _ => "The connection to the server was lost. The request may have taken effect.",
        };
        ToolError::new(text).with_source(error)
    }
}

/// Adds credentials to a request. `secrets` gets each text that a response must not repeat.
async fn authorise(
    request: &mut Request,
    scheme: &Scheme,
    auth: &Auth,
    user: &Principal,
    secrets: &mut Vec<String>,
) -> Result<(), ToolError> {
    let secret = auth.secret(user).await;
    let secret =
        secret.ok_or_else(|| ToolError::new("The user has no access to this server. Nothing was sent."))?;
    secrets.push(secret.expose_secret().to_owned());
    let (name, value) = match scheme {
        Scheme::Unsupported => return Err(ToolError::internal("a scheme that is not supported")),
        Scheme::Bearer => (AUTHORIZATION, format!("Bearer {}", secret.expose_secret())),
        Scheme::Basic => {
            let value = auth::basic(&secret);
            secrets.extend(value.strip_prefix("Basic ").map(str::to_owned));
            secrets.extend(secret.expose_secret().split_once(':').map(|(_, password)| password.to_owned()));
            (AUTHORIZATION, value)
        }
        Scheme::ApiKey { location: Location::Header, name } => {
            let (name, value) = (HeaderName::from_bytes(name.as_bytes())?, secret.expose_secret());
            secrets.extend(credentials_in(&name, value).into_iter().map(str::to_owned));
            (name, value.to_owned())
        }
        Scheme::ApiKey { location, name } => {
            let pair = (encode(name), encode(secret.expose_secret()));
            let pairs = if *location == Location::Cookie { &mut request.cookies } else { &mut request.query };
            // An object that is spread over the query has names of the model's choice.
            if pairs.iter().any(|(other, _)| *other == pair.0) {
                return Err(ToolError::new(format!("`{name}` is not an argument of this tool.")));
            }
            pairs.push(pair);
            return Ok(());
        }
    };
    let mut value = HeaderValue::from_str(&value)?;
    value.set_sensitive(true);
    request.headers.insert(name, value);
    Ok(())
}

/// Returns the parts of a secret header that a server may repeat alone: the credentials after their scheme, and the values
/// of cookies.
fn credentials_in<'a>(name: &HeaderName, value: &'a str) -> Vec<&'a str> {
    if *name == COOKIE {
        return value.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim())).collect();
    }
    let has_scheme = [AUTHORIZATION, PROXY_AUTHORIZATION].contains(name);
    value
        .split_once(' ')
        .filter(|_| has_scheme)
        .map(|(_, credentials)| credentials.trim())
        .into_iter()
        .collect()
}

fn finish(request: Request) -> Result<http::Request<bytes::Bytes>, ToolError> {
    let Request { method, mut url, query, cookies, mut headers, body } = request;
    let joined = |pairs: &[(String, String)], separator: &str| {
        let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(separator)
    };
    if !query.is_empty() {
        url.push('?');
        url.push_str(&joined(&query, "&"));
    }
    if !cookies.is_empty() {
        let header = cookie_header(headers.get(COOKIE), &cookies)?;
        headers.insert(COOKIE, header);
    }
    let finished = http::Request::builder().method(method).uri(url).body(body);
    let mut finished = finished.map_err(|error| {
        ToolError::new("The arguments do not fit into a URL. Use shorter ones.").with_source(error)
    })?;
    *finished.headers_mut() = headers;
    Ok(finished)
}

/// Joins cookies to those of a secret header, which no other may replace.
fn cookie_header(
    secret: Option<&HeaderValue>,
    cookies: &[(String, String)],
) -> Result<HeaderValue, ToolError> {
    let secret = secret.map(HeaderValue::as_bytes).unwrap_or_default();
    let mut joined = secret.to_vec();
    for (name, value) in cookies {
        let is_secret = secret.split(|byte| *byte == b';').any(|pair| {
            let of_pair = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
            let of_pair = String::from_utf8_lossy(of_pair.trim_ascii());
            of_pair == *name || encode(&of_pair) == *name
        });
        if is_secret {
            return Err(ToolError::new(format!("`{name}` is not an argument of this tool.")));
        }
        if !joined.is_empty() {
            joined.extend_from_slice(b"; ");
        }
        joined.extend_from_slice(format!("{name}={value}").as_bytes());
    }
    let mut header = HeaderValue::from_bytes(&joined)?;
    header.set_sensitive(!secret.is_empty());
    Ok(header)
}
