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
        Ok(ClientFrame::CallResponse(response)) => {
            let session = session.clone();
            return pending(async move { session.call_response(response).await.map(|()| Vec::new()) });
        }
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
        Err(fault) => return Reply::Frames(vec![fault.into()]),
    };
    Reply::Frames(done.err().map(refused).into_iter().collect())
}

fn refused(error: InterventionError) -> ServerFrame {
    ServerFrame::error(error.code(), error.to_string())
}

fn pending(frames: impl Future<Output = Result<Vec<ServerFrame>, Error>> + Send + 'static) -> Reply {
    Reply::Pending(Box::pin(
        async move { frames.await.unwrap_or_else(|error| vec![Fault::from(error).into()]) },
    ))
}

/// Returns the answer to `get-agent-tree`.
async fn tree(session: AgentSession) -> Result<Vec<ServerFrame>, Error> {
    let states = session.tree_of_chat().await?;
    let agent_ids = states.iter().map(|state| state.agent_id.clone()).collect();
    let mut frames: Vec<_> = states.into_iter().map(ServerFrame::state).collect();
    frames.push(ServerFrame::AgentTree { agent_ids });
    Ok(frames)
}
