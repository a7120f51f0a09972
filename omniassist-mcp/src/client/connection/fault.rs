use std::error::Error as StdError;
use std::io;

use rmcp::model::{ElicitRequestParams, ErrorCode};
use rmcp::{ErrorData, ServiceError};

use crate::client::McpError;
use crate::client::http::HttpError;

/// The error of a call that needs pages to be opened, in version 2025-11-25.
const NEEDS_PAGES: ErrorCode = ErrorCode(-32042);

/// The reason for which a request has no result.
pub(in crate::client) enum Fault {
    /// The server did not run it, and this connection cannot be used. Another can.
    NotRun(McpError),
    /// The server refused the session, and so did not run it. The refusal of a fresh session proves nothing.
    Expired(McpError),
    /// The connection was lost. The server may have run it.
    Gone(McpError),
    /// The server answered with a status of HTTP, and with no message of the protocol. It may have run it.
    Answered(u16),
    /// There was no answer in time. The server may have run it.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
    /// The server did not run it, because it refuses the user.
    Forbidden(McpError),
    /// The server refused it with this error.
    Refused(ErrorData),
    /// The server refused it because there are too many.
    TooMany,
    /// The server refused it until the user has opened these pages.
    NeedsPages(Vec<ElicitRequestParams>),
    /// The answer cannot be used.
    Answer(McpError),
}

impl Fault {
    /// Classifies the failure of a request that was handed to the transport.
    pub(super) fn of(error: ServiceError) -> Self {
        if let ServiceError::TransportSend(error) = &error {
            let error = error.error.as_ref();
            if let Some(refusal) = forbidden(error) {
                return Self::Forbidden(refusal);
            }
            match status(error) {
                Some(429) => return Self::TooMany,
                Some(status) => return Self::Answered(status),
                None => {}
            }
        }
        match error {
            ServiceError::McpError(error) => match pages(&error) {
                Some(pages) => Self::NeedsPages(pages),
                None => Self::Refused(error),
            },
            ServiceError::TransportSend(error) if is_expired(error.error.as_ref()) => {
                Self::Expired(McpError::disconnected_by(error.error))
            }
            ServiceError::TransportSend(error) if is_unauthenticated(error.error.as_ref()) => {
                Self::NotRun(McpError::refused_credentials(error.error))
            }
            ServiceError::TransportSend(error) if proves_not_run(error.error.as_ref()) => {
                Self::NotRun(McpError::disconnected_by(error.error))
            }
            error @ (ServiceError::TransportSend(_)
            | ServiceError::TransportClosed
            | ServiceError::Cancelled { .. }) => Self::Gone(McpError::disconnected_by(error)),
            ServiceError::Timeout { .. } => Self::TimedOut,
            error => Self::Answer(McpError::answer(error)),
        }
    }

    /// Returns the error for the log.
    pub(in crate::client) fn into_error(self) -> McpError {
        match self {
            Self::NotRun(error)
            | Self::Expired(error)
            | Self::Gone(error)
            | Self::Answer(error)
            | Self::Forbidden(error) => error,
            Self::Answered(status) => McpError::http_status(status),
            Self::TimedOut => McpError::timed_out(),
            Self::Cancelled => McpError::disconnected(),
            Self::Refused(error) => McpError::answer(error),
            Self::TooMany => McpError::answer("too many requests"),
            Self::NeedsPages(_) => McpError::answer("the server needs pages to be opened"),
        }
    }
}

/// Returns the pages that an error asks to open.
fn pages(error: &ErrorData) -> Option<Vec<ElicitRequestParams>> {
    if error.code != NEEDS_PAGES {
        return None;
    }
    let pages: Vec<_> = serde_json::from_value(error.data.as_ref()?.get("elicitations")?.clone()).ok()?;
    Some(pages).filter(|pages| !pages.is_empty())
}

/// Returns the status of an answer that has no message of the protocol.
fn status(error: &(dyn StdError + 'static)) -> Option<u16> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(|error| {
        let Some(HttpError::HttpStatus(answer)) = error.downcast_ref() else { return None };
        Some(answer.status)
    })
}

/// Returns the error of a user whom the server refuses.
fn forbidden(error: &(dyn StdError + 'static)) -> Option<McpError> {
    std::iter::successors(Some(error), |&error| error.source()).find_map(|error| {
        let Some(HttpError::InsufficientScope(refusal)) = error.downcast_ref() else { return None };
        Some(if refusal.can_upgrade() { McpError::authorization_needed() } else { McpError::forbidden() })
    })
}

/// Returns `true` if the server refused the session.
fn is_expired(error: &(dyn StdError + 'static)) -> bool {
    any_source(error, |error| matches!(error.downcast_ref(), Some(HttpError::SessionExpired)))
}

/// Returns `true` if the server refused the credentials, and so did not run the request.
fn is_unauthenticated(error: &(dyn StdError + 'static)) -> bool {
    any_source(error, |error| matches!(error.downcast_ref(), Some(HttpError::AuthRequired(_))))
}

/// Returns `true` if the server cannot have read the request, since there was no connection to send it on.
fn proves_not_run(error: &(dyn StdError + 'static)) -> bool {
    any_source(error, |error| match (error.downcast_ref(), error.downcast_ref::<io::Error>()) {
        (Some(HttpError::Client(error)), _) => error.is_connect(),
        (_, Some(error)) => error.kind() == io::ErrorKind::BrokenPipe,
        _ => false,
    })
}

fn any_source(error: &(dyn StdError + 'static), holds: impl Fn(&(dyn StdError + 'static)) -> bool) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(holds)
}
