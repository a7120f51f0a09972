use std::fmt;

use super::{Error, ErrorCode};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        match inner.code {
            ErrorCode::InvalidJson => f.write_str("the body is not valid JSON")?,
            ErrorCode::LimitExceeded => {
                let (name, limit) = inner.limit.unwrap_or(("limit", 0));
                write!(f, "the limit {name} of {limit} was exceeded")?;
            }
            ErrorCode::InvalidRequest => {
                let (expected, found) = (inner.expected.as_deref(), inner.found.as_deref());
                write!(f, "expected {}, found {}", expected.unwrap_or("?"), found.unwrap_or("?"))?;
            }
            ErrorCode::DuplicateRun => f.write_str("this message is already being answered")?,
            ErrorCode::ChatBusy => f.write_str("the chat has an active run")?,
            ErrorCode::QueueFull => {
                let (_, limit) = inner.limit.unwrap_or(("limit", 0));
                write!(f, "{limit} messages of the chat already wait for their answer")?;
            }
            ErrorCode::UnknownParent => {
                f.write_str("the chat does not have the message before this one; load the chat again")?;
            }
            ErrorCode::AlreadyAnswered => f.write_str("the question has its answer already")?,
            ErrorCode::NotWaiting => f.write_str("the run does not wait for this answer")?,
            ErrorCode::IdempotencyKeyReused => {
                f.write_str("the key belongs to another message; use a new key for each message")?;
            }
            ErrorCode::ChatDeleted => f.write_str("the chat was deleted")?,
            ErrorCode::EventsExpired => {
                f.write_str(
                    "the events of this run are no longer kept; load the messages of the chat instead",
                )?;
            }
            ErrorCode::StoreUnavailable => {
                f.write_str("the conversation cannot be stored now; send the request again later")?;
            }
            ErrorCode::SealInvalid => f.write_str("not written by this server")?,
            ErrorCode::TooManyRuns => {
                let (_, limit) = inner.limit.unwrap_or(("limit", 0));
                write!(f, "{limit} runs are already active; wait until one has ended")?;
            }
            ErrorCode::RateLimited => f.write_str("too many requests; send this one again later")?,
            ErrorCode::TokenBudgetExceeded => {
                f.write_str("the token budget is used up; send the request again later")?;
            }
            ErrorCode::LimitsUnavailable => {
                f.write_str("the limits of this user cannot be checked now; send the request again later")?;
            }
            ErrorCode::AgentsUnavailable => {
                f.write_str("the agent cannot be loaded now; send the request again later")?;
            }
            ErrorCode::AgentInvalid => {
                f.write_str("the configuration of the agent is invalid; its operator has to correct it")?;
            }
            ErrorCode::ToolSourceUnavailable => {
                f.write_str("the tools for the answer are not available now; send the request again later")?;
            }
            ErrorCode::Internal => f.write_str("an internal error occurred")?,
            ErrorCode::Overloaded => f.write_str("the server is busy; send the request again")?,
            ErrorCode::ShuttingDown => f.write_str("the server is shutting down; send the request again")?,
            ErrorCode::InvalidTool | ErrorCode::InvalidStream => {
                f.write_str(inner.expected.as_deref().unwrap_or("not acceptable"))?;
            }
        }
        match &inner.path {
            Some(path) => write!(f, " at {path}"),
            None => Ok(()),
        }
    }
}
