use std::pin::Pin;

use omniassist_core::Error;
use omniassist_core::agent_tree::{ClientFrame, Requested, ServerFrame};

use super::inbox::Fault;
use crate::agents::{AgentSession, AgentStream, InterventionError};

/// Frames that are sent when the store has answered.
pub(super) type PendingFrames = Pin<Box<dyn Future<Output = Vec<ServerFrame>> + Send>>;

/// The effect of a client frame.
pub(super) enum Reply {
    /// A tree begins.
    Begun(AgentStream),
    /// These frames are sent.
    Frames(Vec<ServerFrame>),
    Pending(PendingFrames),
}

/// Carries out a client frame.
pub(super) fn carry_out(session: &AgentSession, frame: Result<ClientFrame, Fault>) -> Reply {
    let done = match frame {
        Ok(ClientFrame::StartAgent { prompt }) => return Reply::Begun(session.agent(prompt)),
        Ok(ClientFrame::GetAgentTree) => return pending(tree(session.clone())),
        Ok(ClientFrame::UserResponse { agent_id, response }) => session.user_response(&agent_id, response),
        Ok(ClientFrame::UserIntervention(intervention)) => {
            let (id, status) = (intervention.agent_id.clone(), intervention.status);
            let done = session.user_intervention(intervention);
            // Another server may have the agent.
            if let (Err(error), Some(Requested::Cancelled)) = (done, status)
                && error.code() == "no_such_agent"
            {
                let session = session.clone();
                return pending(async move {
                    let is_stopped = session.stop_agent(&id).await?;
                    Ok(if is_stopped { Vec::new() } else { vec![refused(error)] })
                });
            }
            done
        }
        Ok(_) => Ok(()),
        Err(Fault { code, message }) => {
            return Reply::Frames(vec![ServerFrame::error(code, message)]);
        }
    };
    Reply::Frames(done.err().map(refused).into_iter().collect())
}

fn refused(error: InterventionError) -> ServerFrame {
    ServerFrame::error(error.code(), error.to_string())
}

fn pending(frames: impl Future<Output = Result<Vec<ServerFrame>, Error>> + Send + 'static) -> Reply {
    Reply::Pending(Box::pin(async move {
        let failed = |error: Error| vec![ServerFrame::error(error.code().as_str(), error.to_string())];
        frames.await.unwrap_or_else(failed)
    }))
}

/// Returns the answer to `get-agent-tree`.
async fn tree(session: AgentSession) -> Result<Vec<ServerFrame>, Error> {
    let states = session.tree_of_chat().await?;
    let agent_ids = states.iter().map(|state| state.agent_id.clone()).collect();
    let mut frames: Vec<_> = states.into_iter().map(ServerFrame::state).collect();
    frames.push(ServerFrame::AgentTree { agent_ids });
    Ok(frames)
}
