//! An authorization server with accounts, and the protection of an MCP server by it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Query = HashMap<String, String>;

/// An authorization server on a real socket. Whoever opens its authorization URL is logged in as the user of the test.
#[derive(Clone)]
pub(crate) struct Accounts {
    pub(crate) url: String,
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The URL of the MCP server.
    resource: String,
    /// The members of the metadata that have another value.
    overrides: HashMap<&'static str, Value>,
    /// The requests of the authorization endpoint, by code, with the user.
    codes: HashMap<String, (String, Query)>,
    /// The user of each valid token, with its scopes.
    access: HashMap<String, (String, String)>,
    refresh: HashMap<String, (String, String)>,
    issued: usize,
    expires_in: u64,
    /// Paths with the bodies of all requests.
    received: Vec<(String, Query)>,
    scopes: String,
    fails: bool,
    forgets: bool,
    posts_only: bool,
    /// A path that is redirected: with the status and the target.
    redirect: Option<(String, u16, String)>,
}

impl Accounts {
    pub(crate) async fn start() -> Self {
        Self::start_as("127.0.0.1").await
    }

    /// Starts with this host in its URLs.
    pub(crate) async fn start_as(host: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let this = Self { url: format!("http://{host}:{port}"), port, state: Arc::default() };
        this.state().expires_in = 3600;
        let server = this.clone();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let server = server.clone();
                let service = service_fn(move |request| {
                    let server = server.clone();
                    async move { Ok::<_, Infallible>(server.handle(request).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        this
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Protects the MCP server at a URL.
    pub(crate) fn protect(&self, resource: &str) {
        self.state().resource = resource.to_owned();
    }

    /// Replaces a member of the metadata: of the resource for `resource` and `authorization_servers`, else of this server.
    pub(crate) fn say(&self, member: &'static str, value: Value) {
        self.state().overrides.insert(member, value);
    }

    pub(crate) fn expire_in(&self, seconds: u64) {
        self.state().expires_in = seconds;
    }

    /// Requires scopes for calls.
    pub(crate) fn require(&self, scopes: &str) {
        self.state().scopes = scopes.to_owned();
    }

    /// Fails each request for a token, or none.
    pub(crate) fn fail(&self, fails: bool) {
        self.state().fails = fails;
    }

    /// Does not know the application any more, or does.
    pub(crate) fn forget_application(&self, forgets: bool) {
        self.state().forgets = forgets;
    }

    /// Refuses tokens of messages only. Other requests to the MCP server are not allowed, as those of a stream are not in the
    /// version without sessions.
    pub(crate) fn answer_posts_only(&self) {
        self.state().posts_only = true;
    }

    /// Redirects the requests for a path.
    pub(crate) fn redirect(&self, path: &str, status: u16, target: &str) {
        self.state().redirect = Some((path.to_owned(), status, target.to_owned()));
    }

    /// Makes all access tokens invalid.
    pub(crate) fn revoke_access(&self) {
        self.state().access.clear();
    }

    /// Makes all tokens invalid.
    pub(crate) fn revoke(&self) {
        let mut state = self.state();
        state.access.clear();
        state.refresh.clear();
    }

    /// Returns the user of the token in a header.
    pub(crate) fn user(&self, authorization: &str) -> Option<String> {
        let token = authorization.strip_prefix("Bearer ")?;
        self.state().access.get(token).map(|(user, _)| user.clone())
    }

    /// Returns the requests for a path.
    pub(crate) fn received(&self, path: &str) -> Vec<Query> {
        let state = self.state();
        state.received.iter().filter(|(of, _)| of == path).map(|(_, query)| query.clone()).collect()
    }

    /// Opens an authorization URL as a user, and returns the query of the redirect.
    pub(crate) async fn allow(&self, url: &str, user: &str) -> String {
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let local = url.replacen(&self.url, &format!("http://127.0.0.1:{}", self.port), 1);
        let response = browser.get(local).header("cookie", user).send().await.unwrap();
        let location = response.headers()["location"].to_str().unwrap();
        location.split_once('?').unwrap().1.to_owned()
    }

    /// Answers a request to the MCP server in its place: with its metadata, or with the refusal of its token.
    pub(crate) fn gate(
        &self,
        path: &str,
        authorization: &str,
        method: &str,
    ) -> Option<Response<Full<Bytes>>> {
        let mut state = self.state();
        if state.resource.is_empty() {
            return None;
        }
        let origin = state.resource.strip_suffix("/mcp").unwrap().to_owned();
        if path.starts_with("/.well-known/oauth-protected-resource") {
            state.received.push((path.to_owned(), Query::new()));
            let servers = state.overrides.get("authorization_servers").cloned();
            let resource = state.overrides.get("resource").cloned();
            return Some(answer(&json!({
                "resource": resource.unwrap_or_else(|| state.resource.clone().into()),
                "authorization_servers": servers.unwrap_or_else(|| json!([self.url])),
                "scopes_supported": ["read"],
            })));
        }
        let metadata = state
            .overrides
            .get("resource_metadata")
            .cloned()
            .unwrap_or_else(|| format!("{origin}/.well-known/oauth-protected-resource/mcp").into());
        let refusal = |status: StatusCode, error: &str, scope: &str| {
            let scope = if scope.is_empty() { String::new() } else { format!(r#", scope="{scope}""#) };
            let challenge = format!(
                r#"Bearer error="{error}", resource_metadata="{}"{scope}"#,
                metadata.as_str().unwrap()
            );
            let response = Response::builder().status(status).header("www-authenticate", challenge);
            Some(response.body(Full::default()).unwrap())
        };
        let token = authorization.strip_prefix("Bearer ").unwrap_or_default();
        match state.access.get(token) {
            None if state.posts_only && method.is_empty() => Some(status(StatusCode::METHOD_NOT_ALLOWED)),
            None => refusal(StatusCode::UNAUTHORIZED, "invalid_token", "read"),
            Some((_, scopes)) => {
                let is_enough = state
                    .scopes
                    .split(' ')
                    .all(|scope| scope.is_empty() || scopes.split(' ').any(|one| one == scope));
                match method == "tools/call" && !is_enough {
                    true => refusal(StatusCode::FORBIDDEN, "insufficient_scope", &state.scopes),
                    false => None,
                }
            }
        }
    }

    async fn handle(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let user = request.headers().get("cookie").map(|user| user.to_str().unwrap().to_owned());
        let basic = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
        let (path, query) =
            (request.uri().path().to_owned(), request.uri().query().unwrap_or_default().to_owned());
        let is_json = request.headers().get("content-type").is_some_and(|kind| kind == "application/json");
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let sent = if body.is_empty() { query } else { String::from_utf8(body.to_vec()).unwrap() };
        let mut sent: Query = match is_json {
            true => HashMap::from([("json".to_owned(), sent)]),
            false => form(&sent),
        };
        if let Some(basic) = basic {
            sent.insert("authorization".to_owned(), basic);
        }
        let mut state = self.state();
        state.received.push((path.clone(), sent.clone()));
        if let Some((_, status, target)) = state.redirect.as_ref().filter(|(of, ..)| *of == path) {
            let response = Response::builder().status(*status).header("location", target);
            return response.body(Full::default()).unwrap();
        }
        match path.as_str() {
            "/.well-known/oauth-authorization-server" | "/.well-known/elsewhere" => {
                let mut metadata = json!({
                    "issuer": self.url,
                    "authorization_endpoint": format!("{}/authorize", self.url),
                    "token_endpoint": format!("{}/token", self.url),
                    "registration_endpoint": format!("{}/register", self.url),
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    "authorization_response_iss_parameter_supported": true,
                });
                for (member, value) in &state.overrides {
                    metadata[*member] = value.clone();
                }
                answer(&metadata)
            }
            "/register" => {
                answer(&json!({"client_id": "registered", "redirect_uris": ["http://app.test/back"]}))
            }
            "/authorize" => {
                state.issued += 1;
                let code = format!("code-{}", state.issued);
                let issuer =
                    state.overrides.get("iss").and_then(Value::as_str).unwrap_or(&self.url).to_owned();
                let target =
                    format!("{}?code={code}&state={}&iss={issuer}", sent["redirect_uri"], sent["state"]);
                state.codes.insert(code, (user.unwrap(), sent));
                Response::builder().status(302).header("location", target).body(Full::default()).unwrap()
            }
            "/token" if state.fails => status(StatusCode::SERVICE_UNAVAILABLE),
            "/token" if state.forgets => refused(StatusCode::UNAUTHORIZED, "invalid_client"),
            "/token" => state.token(&sent),
            _ => status(StatusCode::NOT_FOUND),
        }
    }
}

impl State {
    fn token(&mut self, sent: &Query) -> Response<Full<Bytes>> {
        let (user, scopes) = match sent["grant_type"].as_str() {
            "authorization_code" => {
                let Some((user, asked)) = self.codes.remove(&sent["code"]) else {
                    return refused(StatusCode::BAD_REQUEST, "invalid_grant");
                };
                let is_bound = sent["redirect_uri"] == asked["redirect_uri"]
                    && sent["resource"] == asked["resource"]
                    && asked["code_challenge_method"] == "S256"
                    && sent["code_verifier"].len() >= 43;
                if !is_bound {
                    return refused(StatusCode::BAD_REQUEST, "invalid_grant");
                }
                (user, asked.get("scope").cloned().unwrap_or_default())
            }
            // A refresh token is used once.
            _ => match self.refresh.remove(&sent["refresh_token"]) {
                Some(known) => known,
                None => return refused(StatusCode::BAD_REQUEST, "invalid_grant"),
            },
        };
        let scopes = self.overrides.get("grants").and_then(Value::as_str).map_or(scopes, str::to_owned);
        self.issued += 1;
        let (access, refresh) =
            (format!("{user}-{}", self.issued), format!("refresh-{user}-{}", self.issued));
        self.access.insert(access.clone(), (user.clone(), scopes.clone()));
        self.refresh.insert(refresh.clone(), (user, scopes.clone()));
        answer(&json!({
            "access_token": access, "token_type": "Bearer", "expires_in": self.expires_in,
            "refresh_token": refresh, "scope": scopes,
        }))
    }
}

fn refused(status: StatusCode, error: &str) -> Response<Full<Bytes>> {
    let mut response = answer(&json!({ "error": error }));
    *response.status_mut() = status;
    response
}

fn answer(body: &Value) -> Response<Full<Bytes>> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(Full::from(body.to_string())).unwrap()
}

fn status(status: StatusCode) -> Response<Full<Bytes>> {
    Response::builder().status(status).body(Full::default()).unwrap()
}

/// Reads a query or a form.
pub(crate) fn form(text: &str) -> Query {
    let url = reqwest::Url::parse(&format!("http://form.test/?{text}")).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}
