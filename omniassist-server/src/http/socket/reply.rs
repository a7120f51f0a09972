use omniassist_core::agent_tree::{ClientFrame, ServerFrame};

use super::inbox::Fault;
use crate::agents::{AgentSession, AgentStream, InterventionError};

/// The effect of a client frame.
pub(super) enum Reply {
    /// A tree begins.
    Begun(AgentStream),
    /// These frames are sent.
    Frames(Vec<ServerFrame>),
}

/// Carries out a client frame.
pub(super) fn carry_out(session: &AgentSession, frame: Result<ClientFrame, Fault>) -> Reply {
    let done = match frame {
        Ok(ClientFrame::StartAgent { prompt }) => return Reply::Begun(session.agent(prompt)),
        Ok(ClientFrame::GetAgentTree) => {
            let states = session.get_agent_tree();
            let agent_ids = states.iter().map(|state| state.agent_id.clone()).collect();
            let mut frames: Vec<_> = states.into_iter().map(ServerFrame::state).collect();
            frames.push(ServerFrame::AgentTree { agent_ids });
            return Reply::Frames(frames);
        }
        Ok(ClientFrame::UserResponse { agent_id, response }) => session.user_response(&agent_id, response),
        Ok(ClientFrame::UserIntervention(intervention)) => session.user_intervention(intervention),
        Ok(_) => Ok(()),
        Err(Fault { code, message }) => {
            return Reply::Frames(vec![ServerFrame::error(code, message)]);
        }
    };
    let refused = |error: InterventionError| ServerFrame::error(error.code(), error.to_string());
    Reply::Frames(done.err().map(refused).into_iter().collect())
}
