use serde::{Deserialize, Deserializer};

use super::Status;
use crate::{Error, JsonText, Result, Text};

/// A frame of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFrame {
    /// Begins a tree. One that is there already ends.
    StartAgent {
        /// The task of the root.
        prompt: Text,
    },
    /// Answers the oldest open question of an agent.
    UserResponse {
        /// The agent that asks.
        agent_id: Text,
        /// The answer.
        response: Text,
    },
    /// Answers the question about a call that waits for the user.
    CallResponse(CallResponse),
    /// Changes the work of an agent.
    UserIntervention(Intervention),
    /// Asks for the states of all agents.
    GetAgentTree,
}

/// The user's answer to the question about a call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallResponse {
    /// The agent that asks.
    pub agent_id: Text,
    /// The question.
    pub query_id: Text,
    /// `true` if the call may run, or if the form was filled in.
    pub approved: bool,
    /// The values of a form that was filled in.
    #[serde(default)]
    pub output: Option<JsonText>,
    /// The arguments that the user has edited. Only if the question allows it.
    #[serde(default)]
    pub arguments: Option<JsonText>,
    /// The reason for a refusal, which the model reads.
    #[serde(default)]
    pub reason: Option<Text>,
}

impl CallResponse {
    /// Creates the approval of a call.
    #[must_use]
    pub fn approved(agent_id: impl Into<Text>, query_id: impl Into<Text>) -> Self {
        let (agent_id, query_id) = (agent_id.into(), query_id.into());
        Self { agent_id, query_id, approved: true, output: None, arguments: None, reason: None }
    }

    /// Creates the refusal of a call or of a form.
    #[must_use]
    pub fn refused(agent_id: impl Into<Text>, query_id: impl Into<Text>) -> Self {
        Self { approved: false, ..Self::approved(agent_id, query_id) }
    }

    /// Sets the values of a form. Default: none.
    #[must_use]
    pub fn output(mut self, output: JsonText) -> Self {
        self.output = Some(output);
        self
    }

    /// Sets the edited arguments. Default: those of the question.
    #[must_use]
    pub fn arguments(mut self, arguments: JsonText) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Sets the reason for a refusal. Default: none.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<Text>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// A change of the work of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Intervention {
    /// The agent.
    pub agent_id: Text,
    /// The task that takes the place of the agent's own, from its next model call on.
    #[serde(default)]
    pub user_content: Option<Text>,
    /// A remark for the agent, which its next model call reads. On the wire a string, or an object with `text`.
    #[serde(default, deserialize_with = "comment")]
    pub user_comment: Option<Text>,
    /// The new status, which tells the agent what to do.
    #[serde(default)]
    pub status: Option<Requested>,
}

impl Intervention {
    /// Creates an intervention that changes nothing yet.
    #[must_use]
    pub fn of(agent_id: impl Into<Text>) -> Self {
        Self { agent_id: agent_id.into(), user_content: None, user_comment: None, status: None }
    }

    /// Replaces the task. Default: the task stays.
    #[must_use]
    pub fn content(mut self, content: impl Into<Text>) -> Self {
        self.user_content = Some(content.into());
        self
    }

    /// Adds a remark. Default: none.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<Text>) -> Self {
        self.user_comment = Some(comment.into());
        self
    }

    /// Sets what the agent has to do. Default: the agent goes on as before.
    #[must_use]
    pub fn status(mut self, status: Requested) -> Self {
        self.status = Some(status);
        self
    }
}

/// A status that a user can give to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Requested {
    /// The agent goes on after a pause.
    Running,
    /// The agent waits before its next model call.
    Paused,
    /// The agent answers now, with what it has and without tools.
    Completed,
    /// The agent and all agents below it end.
    Cancelled,
}

impl From<Requested> for Status {
    fn from(requested: Requested) -> Self {
        match requested {
            Requested::Running => Self::Running,
            Requested::Paused => Self::Paused,
            Requested::Completed => Self::Completed,
            Requested::Cancelled => Self::Cancelled,
        }
    }
}

/// The part of a frame that tells what the rest is.
#[derive(Deserialize)]
struct Kind {
    r#type: Text,
}

#[derive(Deserialize)]
struct StartAgent {
    prompt: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserResponse {
    agent_id: Text,
    response: Text,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Comment {
    Plain(Text),
    Object { text: Text },
}

impl ClientFrame {
    /// Reads the text of a frame. Further fields are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error with the code `invalid_json` if the text is no JSON, and one with `invalid_request` that names the
    /// field if the frame is not one of those that there are.
    pub fn read(text: &str) -> Result<Self> {
        let kind: Kind = fields(text)?;
        Ok(match kind.r#type.as_str() {
            "start-agent" => {
                let StartAgent { prompt } = fields(text)?;
                Self::StartAgent { prompt }
            }
            "user-response" => {
                let UserResponse { agent_id, response } = fields(text)?;
                Self::UserResponse { agent_id, response }
            }
            "call-response" => Self::CallResponse(fields(text)?),
            "user-intervention" => Self::UserIntervention(fields(text)?),
            "get-agent-tree" => Self::GetAgentTree,
            _ => {
                let expected =
                    "start-agent, user-response, call-response, user-intervention or get-agent-tree";
                return Err(Error::invalid_field("type", expected, "another type"));
            }
        })
    }
}

fn fields<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        if error.is_data() {
            let path = if path == "." { "frame".to_owned() } else { path };
            Error::invalid_field(path, "a frame as documented", one_fault(&error))
        } else {
            Error::invalid_json(error)
        }
    })?;
    json.end().map_err(Error::invalid_json)?;
    Ok(read)
}

/// Returns the fault alone. The text of the frame is one line, so a position tells nothing.
fn one_fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().chars().take(200).collect()
}

fn comment<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Text>, D::Error> {
    let expected = "a remark is a string, or an object with `text`";
    let comment = Option::<Comment>::deserialize(from).map_err(|_| serde::de::Error::custom(expected))?;
    Ok(comment.map(|comment| match comment {
        Comment::Plain(text) | Comment::Object { text } => text,
    }))
}
