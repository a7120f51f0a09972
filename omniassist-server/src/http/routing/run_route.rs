use crate::store::RunId;

/// A route below `/runs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct RunRoute {
    /// `None` for a text that is not the id of a run. It is answered as an id that does not exist.
    pub(in crate::http) run: Option<RunId>,
    pub(in crate::http) action: RunAction,
}

/// A client's request to a stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) enum RunAction {
    Read,
    Events,
    Stop,
    /// Answers the question of this call.
    Answer(String),
}

impl RunRoute {
    /// Parses the path below `/runs`, without the slash at its start.
    pub(in crate::http) fn parse(path: &str, decoded: fn(&str) -> Option<String>) -> Option<Self> {
        let segments: Vec<&str> = path.split('/').collect();
        let (run, action) = match segments.as_slice() {
            [run] => (run, RunAction::Read),
            [run, "events"] => (run, RunAction::Events),
            [run, "stop"] => (run, RunAction::Stop),
            [run, "obligations", call] if !call.is_empty() => (run, RunAction::Answer(decoded(call)?)),
            _ => return None,
        };
        (!run.is_empty()).then(|| Self { run: RunId::parse(run), action })
    }

    /// Returns the path as documentation writes it.
    pub(in crate::http) fn path(&self) -> &'static str {
        match self.action {
            RunAction::Read => "/runs/{run}",
            RunAction::Events => "/runs/{run}/events",
            RunAction::Stop => "/runs/{run}/stop",
            RunAction::Answer(_) => "/runs/{run}/obligations/{call}",
        }
    }

    pub(super) fn is_get(&self) -> bool {
        matches!(self.action, RunAction::Read | RunAction::Events)
    }
}
