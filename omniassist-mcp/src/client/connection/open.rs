use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::{Connection, Era};
use crate::client::McpError;
use crate::client::auth::Credentials;
use crate::client::config::{Config, Endpoint};
use crate::client::http::{HttpClient, HttpError};
use crate::client::stdio::Process;

/// The time for the first messages of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The requests of a connection that the server has not begun to answer. One more waits for one of them.
const MAX_POSTS: usize = 1024;

/// The time between two subscriptions.
const LISTEN_GAP: Duration = Duration::from_secs(5);

/// The time after a subscription that the server refused.
const REFUSED_GAP: Duration = Duration::from_secs(60);

impl Connection {
    /// Connects to a server.
    pub(in crate::client) async fn open(
        config: &Config,
        credentials: Option<&Credentials>,
        era: Era,
    ) -> Result<Self, McpError> {
        let handler = Handler::new(config.has_apps);
        let lifecycle = match era {
            Era::Unknown => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            Era::WithInitialize => ClientLifecycleMode::Initialize,
        };
        let opened = async {
            match &config.endpoint {
                Endpoint::Stdio(program) => {
                    let Process { stdout, stdin, over_limit, group } =
                        program.spawn(&config.name).map_err(McpError::unreachable)?;
                    let transport = AsyncRwTransport::new(stdout, stdin).with_max_line_length(usize::MAX);
                    let service = handler.clone().serve_with_lifecycle(transport, lifecycle).await;
                    Ok((service.map_err(unreachable)?, over_limit, Some(group)))
                }
                Endpoint::Http(url) => {
                    let client =
                        HttpClient::new(url, credentials, config.outbound.as_ref(), CONNECT_TIMEOUT)?;
                    let settings = StreamableHttpClientTransportConfig::with_uri(&**url)
                        .max_concurrent_requests(MAX_POSTS)
                        .reinit_on_expired_session(false);
                    let transport = StreamableHttpClientTransport::with_client(client, settings);
                    let service = handler.clone().serve_with_lifecycle(transport, lifecycle).await;
                    Ok((service.map_err(unreachable)?, CancellationToken::new(), None))
                }
            }
        };
        let (service, over_limit, group) =
            timeout(CONNECT_TIMEOUT, opened).await.map_err(|_| McpError::timed_out())??;
        let (peer, quit) = (service.peer().clone(), service.cancellation_token());
        if let Some(info) = peer.peer_info() {
            check_version(&info.protocol_version)?;
        }
        let (ended, unusable) = (CancellationToken::new(), CancellationToken::new());
        let guards = (ended.clone().drop_guard(), unusable.clone().drop_guard());
        tokio::spawn(async move {
            let _ = service.waiting().await;
            drop(guards);
        });
        let listens = peer.peer_info().is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            !info.protocol_version.has_initialize()
                && tools.is_some_and(|tools| tools.list_changed == Some(true))
        });
        if listens {
            let listening = listen(peer.clone(), handler.clone());
            tokio::spawn(ended.clone().run_until_cancelled_owned(listening));
        }
        let (doubted, quit) = (Arc::new(Notify::new()), Some(quit));
        Ok(Self { peer, handler, doubted, ended, over_limit, unusable, quit, _group: group })
    }
}

/// Returns the error of a connection that did not begin. Its source is the reason alone, since the texts of the protocol crate
/// have the types of transports.
fn unreachable(error: ClientInitializeError) -> McpError {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => unreachable(*fallback),
        ClientInitializeError::TransportError { error, .. } => match error.error.downcast::<HttpError>() {
            Ok(error) => match *error {
                HttpError::Client(error) => McpError::unreachable(error.without_url()),
                error @ HttpError::AuthRequired(_) => McpError::refused_credentials(error),
                error => McpError::unreachable(error),
            },
            Err(error) => McpError::unreachable(error),
        },
        error => McpError::unreachable(error),
    }
}

/// Requires that the client knows the version of a server.
fn check_version(version: &ProtocolVersion) -> Result<(), McpError> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    if known.contains(version) {
        return Ok(());
    }
    let known: Vec<_> = known.iter().map(ProtocolVersion::as_str).collect();
    let version = crate::client::cleaned::name(version.as_str());
    let text = format!("it speaks the protocol version {version}, and this client {}", known.join(", "));
    Err(McpError::answer(text))
}

/// Listens to changes of the tools, which a server of version 2026-07-28 tells only those who ask. A subscription that ends is
/// followed by another.
async fn listen(peer: Peer<RoleClient>, handler: Handler) {
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let mut has_ended = false;
    loop {
        let Ok(Ok(mut subscription)) = timeout(CONNECT_TIMEOUT, peer.listen(filter.clone())).await else {
            sleep(REFUSED_GAP).await;
            continue;
        };
        if has_ended {
            // There may have been a change between the two.
            handler.changed.notify_one();
        }
        while let Ok(Some(_)) = subscription.next().await {
            handler.changed.notify_one();
        }
        has_ended = true;
        sleep(LISTEN_GAP).await;
    }
}
