//! Errors as providers report them: in a body with an error status, and inside a stream.

use std::time::Duration;

use omniassist_core::characters::prefix;
use omniassist_core::secret::Secrets;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::lenient_fields::Str;
use crate::ProviderErrorKind::{Auth, ContextOverflow, RateLimited, Response, Timeout, Unavailable};
use crate::{Error, ProviderErrorKind};

/// The number of bytes of a provider's message that an error keeps for the log.
const MAX_DETAIL: usize = 2048;

/// The number of objects and lists around the content of an error that are read.
const MAX_LEVELS: u8 = 8;

/// The code of quota errors, which [`Error::is_retryable`] checks.
const QUOTA: &str = "insufficient_quota";

/// Returns the error for the response to a failed request, given its status and the start of its body.
///
/// The body may be OpenAI's `{"error": {"message", "type", "code"}}`, or Google's `{"error": {"code", "status",
/// "message", "details"}}`, also in a list. Compatible servers send other forms: `error` as a string, the fields at the
/// top, `detail`, a number for `code`, or no JSON at all. A router adds the error of the model's own provider, which then
/// counts (`metadata.raw`). At most 2 KiB of the message become [`Error::detail`], without anything that looks like an API
/// key.
///
/// ```
/// use omniassist_server::provider;
///
/// let error = provider::error_from_response(429, br#"{"error":{"code":"insufficient_quota","message":"m"}}"#);
/// assert_eq!(error.status(), Some(429));
/// assert!(!error.is_retryable());
/// ```
#[must_use]
pub fn error_from_response(status: u16, body: &[u8]) -> Error {
    let lossy = String::from_utf8_lossy(body.get(..body.len().min(64 * 1024)).unwrap_or_default());
    let report = std::str::from_utf8(body).ok().and_then(Report::of).unwrap_or_default();
    let mut error = report.into_error(Some(status));
    if error.detail().is_none() && !lossy.trim().is_empty() {
        error = error.with_detail(clip(&redact(lossy.trim())));
    }
    error
}

/// Returns the error for an error object inside a stream.
pub(super) fn in_band(raw: &RawValue) -> Error {
    Report::of(raw.get()).unwrap_or_default().into_error(None)
}

/// Returns the error for a body that is one JSON value in place of an event stream.
pub(super) fn from_json_body(body: &[u8]) -> Error {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let complete: Result<IgnoredAny, _> = serde_json::from_str(text);
    let parsed =
        complete.and_then(|_| serde_json::from_str::<Outer<'_>>(first_of_list(text).unwrap_or(text)));
    match parsed {
        Ok(outer) if outer.is_error() => Report::of(text).unwrap_or_default().into_error(None),
        Ok(_) => Error::provider(ProviderErrorKind::Protocol)
            .with_code("unexpected_content_type")
            .with_detail(clip(&redact(text))),
        Err(error) if error.is_eof() => Error::provider(ProviderErrorKind::Interrupted),
        Err(error) => Error::provider(ProviderErrorKind::Protocol).with_source(error),
    }
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Outer<'a> {
    error: Option<&'a RawValue>,
    detail: Option<&'a RawValue>,
    details: Option<&'a RawValue>,
    /// OpenRouter's place for the error of the model's own provider.
    metadata: Option<&'a RawValue>,
    object: Str<'a>,
    message: Str<'a>,
    code: Str<'a>,
    #[serde(rename = "type")]
    kind: Str<'a>,
    status: Str<'a>,
}

impl Outer<'_> {
    fn is_error(&self) -> bool {
        self.error.is_some() || self.detail.is_some() || self.object.as_str() == "error"
    }
}

/// The used field of OpenRouter's metadata: JSON, also as a string, or a text.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Metadata<'a> {
    raw: Option<&'a RawValue>,
}

/// The used fields of Google's error details: `google.rpc.RetryInfo` and `google.rpc.ErrorInfo`.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
struct Detail<'a> {
    retry_delay: Str<'a>,
    reason: Str<'a>,
}

/// The content of an error.
#[derive(Default)]
struct Report {
    status: Option<u16>,
    code: Option<String>,
    kind: Option<String>,
    message: Option<String>,
    retry_after: Option<Duration>,
}

impl Report {
    fn of(json: &str) -> Option<Self> {
        Self::parse(json, MAX_LEVELS)
    }

    /// Each level is parsed again, and takes a part of the stack.
    fn parse(json: &str, levels: u8) -> Option<Self> {
        let (json, levels) = (json.trim(), levels.checked_sub(1)?);
        if let Ok(message) = serde_json::from_str::<String>(json) {
            return Some(Self { message: Some(message), ..Self::default() });
        }
        if let Some(first) = first_of_list(json) {
            return Self::parse(first, levels);
        }
        let outer: Outer<'_> = serde_json::from_str(json).ok()?;
        let outside = Self::of_fields(&outer);
        // `error` is an object (OpenAI) or a string (xAI, Venice). Mistral and FastAPI servers send `detail`.
        let inside = outer.error.or(outer.detail).and_then(|raw| Self::parse(raw.get(), levels));
        let own = inside.unwrap_or_default().or(outside);
        Some(match outer.metadata.and_then(|metadata| Self::upstream(metadata, levels)) {
            Some(upstream) => Self { status: own.status, ..upstream }.or(own),
            None => own,
        })
    }

    /// Reads the error of the model's own provider. Its status does not describe the router's answer.
    fn upstream(metadata: &RawValue, levels: u8) -> Option<Self> {
        let raw = serde_json::from_str::<Metadata<'_>>(metadata.get()).ok()?.raw?;
        let read = Self::parse(raw.get(), levels)?;
        let inside = read.message.as_deref().filter(|text| text.trim_start().starts_with(['{', '[']));
        Some(inside.and_then(|text| Self::parse(text, levels)).unwrap_or(read))
    }

    fn or(self, other: Self) -> Self {
        Self {
            status: self.status.or(other.status),
            code: self.code.or(other.code),
            kind: self.kind.or(other.kind),
            message: self.message.or(other.message),
            retry_after: self.retry_after.or(other.retry_after),
        }
    }

    fn of_fields(fields: &Outer<'_>) -> Self {
        let status = [&fields.code, &fields.status]
            .into_iter()
            .find_map(|field| field.as_str().parse().ok().filter(|status| (400..600).contains(status)));
        // A number is a status or a vendor's own code; `type` is more specific.
        let word = |field: &Str<'_>| {
            field.non_empty().filter(|word| word.parse::<i64>().is_err()).map(str::to_owned)
        };
        let kind = word(&fields.kind).filter(|kind| kind != "error" && kind != "response.failed");
        let details = fields.details.map(read_details).unwrap_or_default();
        // Google's general code is `status`, in capitals; the specific one is in the details.
        let reason = details.iter().find_map(|detail| word(&detail.reason));
        let general = word(&fields.status)
            .filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'));
        Self {
            status,
            code: word(&fields.code).or(reason),
            kind: kind.or(general),
            retry_after: details.iter().find_map(|detail| seconds(detail.retry_delay.as_str())),
            message: fields.message.non_empty().map(str::to_owned),
        }
    }

    fn into_error(self, status: Option<u16>) -> Error {
        // The status of the response may be a success, which does not describe the error.
        let status = status.filter(|status| *status >= 400).or(self.status);
        let kind = self.classify(status);
        let mut error = Error::provider(kind);
        if let Some(status) = status {
            error = error.with_status(status);
        }
        let is_quota =
            status == Some(402) || [&self.code, &self.kind].into_iter().flatten().any(|said| said == QUOTA);
        if kind == RateLimited && is_quota {
            error = error.with_code(QUOTA);
        } else if let Some(code) = self.code.or(self.kind) {
            error = error.with_code(redact(&code));
        }
        if let Some(delay) = self.retry_after {
            error = error.with_retry_after(delay);
        }
        match self.message {
            Some(message) => error.with_detail(clip(&redact(&message))),
            None => error,
        }
    }

    /// The code has priority over the status: an error inside a stream often has no status, and a 400 may mean several
    /// things.
    fn classify(&self, status: Option<u16>) -> ProviderErrorKind {
        let told = |rules: &[Rule]| rules.iter().find(|rule| self.matches(rule)).map(|rule| rule.kind);
        told(WORDS).unwrap_or_else(|| match status {
            Some(401 | 403 | 407) => Auth,
            Some(402 | 429) => RateLimited,
            Some(408) => Timeout,
            // 501 means that the server does not support the request; a retry cannot succeed.
            Some(status) if status >= 500 && status != 501 => Unavailable,
            Some(_) => Response,
            None => told(WORDS_WITHOUT_STATUS).unwrap_or(Response),
        })
    }

    fn matches(&self, rule: &Rule) -> bool {
        let mut said = [&self.code, &self.kind].into_iter().flatten();
        let message = self.message.as_deref().unwrap_or_default().to_ascii_lowercase();
        said.any(|said| rule.codes.contains(&said.as_str()))
            || rule.phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// The codes and types, and the lower-case phrases of a message, that identify the kind of an error.
struct Rule {
    kind: ProviderErrorKind,
    codes: &'static [&'static str],
    phrases: &'static [&'static str],
}

#[rustfmt::skip]
const WORDS: &[Rule] = &[
    Rule {
        kind: ContextOverflow,
        codes: &[
            "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
            "model_max_prompt_tokens_exceeded",
        ],
        phrases: &[
            "maximum context length", "exceeds the available context size", "prompt is too long",
            "exceed context limit", "context window", "exceeds the maximum number of tokens",
            // xAI; Together and SGLang; vLLM; GitHub Copilot; LM Studio.
            "maximum prompt length", "longer than the model's context length", "maximum model length",
            "prompt token count", "greater than the context length",
            // Moonshot; Alibaba; Ollama; Amazon Bedrock; Groq.
            "exceeded model token limit", "range of input length should be", "exceeded max context length",
            "input is too long", "reduce the length of the messages",
        ],
    },
    Rule {
        kind: RateLimited,
        codes: &[QUOTA, "rate_limit_exceeded", "rate_limit_error", "too_many_requests", "RESOURCE_EXHAUSTED"],
        phrases: &[],
    },
    Rule {
        kind: Auth,
        codes: &[
            "invalid_api_key", "authentication_error", "permission_error", "API_KEY_INVALID", "UNAUTHENTICATED",
            "PERMISSION_DENIED",
        ],
        phrases: &["incorrect api key", "invalid api key", "api key not valid", "api key expired"],
    },
];

#[rustfmt::skip]
const WORDS_WITHOUT_STATUS: &[Rule] = &[
    Rule { kind: Timeout, codes: &["timeout_error"], phrases: &[] },
    Rule {
        kind: Unavailable,
        codes: &[
            "api_error", "server_error", "internal_server_error", "overloaded_error", "server_is_overloaded",
            "service_unavailable", "unavailable_error", "slow_down", "UNAVAILABLE", "INTERNAL",
        ],
        phrases: &[],
    },
];

/// Returns the first element if the text is a list.
fn first_of_list(json: &str) -> Option<&str> {
    if !json.trim_ascii_start().starts_with('[') {
        return None;
    }
    let list: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    list.first().map(|first| first.get())
}

/// Returns the details of an error. Details of other servers have other forms and are ignored.
fn read_details(raw: &RawValue) -> Vec<Detail<'_>> {
    let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    list.into_iter().filter_map(|detail| serde_json::from_str(detail.get()).ok()).collect()
}

/// Parses a duration in Google's form: `34.074824224s`.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

/// Removes strings in the form of an API key, because servers quote the key that they refuse.
fn redact(text: &str) -> String {
    Secrets::default().redact(text)
}

fn clip(text: &str) -> String {
    prefix(text, MAX_DETAIL).to_owned()
}
