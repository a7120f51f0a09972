//! The download of one file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use http::header::{CONTENT_TYPE, LOCATION};
use omniassist_core::Text;
use reqwest::Response;
use tokio::time::timeout;

use super::{FetchError, FetchPolicy};
use crate::Result;
use crate::files::{FileLimits, content_type};
use crate::outbound::{self, OutboundClient};

/// The maximum number of redirects that are followed for one file.
const MAX_REDIRECTS: usize = 3;

/// The number of bytes from which the media type is detected.
const HEAD_BYTES: usize = 4 * 1024;

/// Downloads files under a policy.
pub(crate) struct Fetcher {
    pub(super) policy: FetchPolicy,
    pub(super) limits: FileLimits,
    client: OutboundClient,
}

/// A file that was downloaded.
#[derive(Clone)]
pub(super) struct Fetched {
    pub(super) media_type: String,
    /// The content as a `data:` URL.
    pub(super) url: Text,
    pub(super) size: usize,
}

impl Fetcher {
    /// # Errors
    ///
    /// Returns an error if a root certificate is not valid, or the certificates of the system cannot be loaded.
    pub(crate) fn new(policy: FetchPolicy, limits: FileLimits) -> Result<Self> {
        let client = OutboundClient::new(policy.outbound.clone())?;
        Ok(Self { policy, limits, client })
    }

    pub(super) async fn download(&self, url: &str) -> Result<Fetched, FetchError> {
        match timeout(self.policy.outbound.timeout, self.follow(url)).await {
            Ok(fetched) => fetched,
            Err(late) => Err(FetchError::unreachable(late)),
        }
    }

    async fn follow(&self, url: &str) -> Result<Fetched, FetchError> {
        let mut url = outbound::parse(url)?;
        for hop in 0..=MAX_REDIRECTS {
            let request = reqwest::Request::new(Method::GET, url.clone());
            let answer = self.client.open(request).await.map_err(|error| match hop {
                0 => error.into(),
                // The reason would reveal the redirect target of an internal server.
                _ => FetchError::unreachable(error),
            })?;
            if answer.status().is_success() {
                return self.read(answer).await;
            }
            if !answer.status().is_redirection() {
                return Err(FetchError::unreachable(format!("status {}", answer.status().as_u16())));
            }
            let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            url = next.ok_or_else(|| FetchError::unreachable("a redirect without a URL"))?;
        }
        Err(FetchError::unreachable("too many redirects"))
    }

    async fn read(&self, mut answer: Response) -> Result<Fetched, FetchError> {
        let most = self.policy.outbound.max_bytes;
        let too_large = || FetchError::TooLarge(most);
        if answer.content_length().is_some_and(|length| length > most as u64) {
            return Err(too_large());
        }
        let mut content = Vec::new();
        let mut media_type = None;
        while let Some(chunk) = answer.chunk().await.map_err(unreachable)? {
            if content.len() + chunk.len() > most {
                return Err(too_large());
            }
            content.extend_from_slice(&chunk);
            if media_type.is_none() && content.len() >= HEAD_BYTES {
                media_type = Some(self.media_type(&answer, &content)?);
            }
        }
        let media_type = match media_type {
            Some(media_type) => media_type,
            None => self.media_type(&answer, &content)?,
        };
        let mut url = format!("data:{media_type};base64,");
        STANDARD.encode_string(&content, &mut url);
        Ok(Fetched { media_type, url: url.into(), size: content.len() })
    }

    fn media_type(&self, answer: &Response, content: &[u8]) -> Result<String, FetchError> {
        let head = content.get(..HEAD_BYTES).unwrap_or(content);
        let stated = answer.headers().get(CONTENT_TYPE).and_then(|stated| stated.to_str().ok());
        let stated = stated.and_then(content_type::essence);
        let media_type = content_type::of(head, stated.as_deref(), Some(answer.url().path()));
        if self.limits.takes(&media_type) { Ok(media_type) } else { Err(FetchError::Type(media_type)) }
    }
}

fn unreachable(error: reqwest::Error) -> FetchError {
    FetchError::unreachable(error.without_url())
}
