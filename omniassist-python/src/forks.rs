use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omniassist_server::core::Text;
use omniassist_server::tool::{AgentReport, FromToolCall};
use omniassist_server::{Agents, ToolContext, ToolError};
use serde_json::{Map, Value};
use tokio_util::task::AbortOnDropHandle;

/// The functions that start an agent and wait for it.
pub(crate) const NAMES: [&str; 2] = ["fork", "wait"];

pub(crate) const DESCRIPTION: &str = "\n- fork(task): starts an agent on a task and returns its id at once. Start several before waiting, so that they work at the same time.\
     \n- wait(agent): waits for the agent of this id and returns its report, a dict with `status` and `result`.";

/// The most agents that one program has started and not waited for.
const MAX_RUNNING: usize = 256;

/// The agents that one program has started. Dropping it stops them.
#[derive(Debug)]
pub(crate) struct Forks {
    agent: Text,
    agents: Arc<Agents>,
    started: Mutex<Started>,
}

#[derive(Debug, Default)]
struct Started {
    count: u64,
    running: HashMap<u64, AbortOnDropHandle<Result<AgentReport, ToolError>>>,
}

impl Forks {
    pub(crate) fn new(agent: Text, call: &ToolContext) -> Result<Self, ToolError> {
        let agents = Arc::new(Agents::from_call(call)?);
        Ok(Self { agent, agents, started: Mutex::default() })
    }

    /// Returns the number of agents that were started. `None` if the program has not waited for all of them.
    pub(crate) fn all_waited_for(&self) -> Option<u64> {
        let started = self.started();
        started.running.is_empty().then_some(started.count)
    }

    /// Counts the agents that the program has started before it waited for the user.
    pub(crate) fn count_earlier(&self, agents: u64) {
        self.started().count = agents;
    }

    /// Calls one of the [`NAMES`].
    pub(crate) async fn call(
        &self,
        name: &str,
        positional: Vec<Value>,
        named: Map<String, Value>,
    ) -> Result<Value, ToolError> {
        let mut given = positional.into_iter().chain(named.into_iter().map(|(_, value)| value));
        let (Some(value), None) = (given.next(), given.next()) else {
            return Err(ToolError::new(format!("{name} takes one argument.")));
        };
        if name == "fork" { self.fork(value) } else { self.wait(&value).await }
    }

    fn fork(&self, task: Value) -> Result<Value, ToolError> {
        let mut started = self.started();
        if started.running.len() >= MAX_RUNNING {
            let text =
                format!("At most {MAX_RUNNING} agents can work for a program; wait for some of them first.");
            return Err(ToolError::new(text));
        }
        let task = match task {
            Value::String(task) => task,
            task => task.to_string(),
        };
        let (agents, agent) = (Arc::clone(&self.agents), self.agent.clone());
        let work = tokio::spawn(async move { agents.ask(agent, task).await });
        started.count += 1;
        let id = started.count;
        started.running.insert(id, AbortOnDropHandle::new(work));
        Ok(id.into())
    }

    async fn wait(&self, id: &Value) -> Result<Value, ToolError> {
        let running = id.as_u64().and_then(|id| self.started().running.remove(&id));
        let Some(running) = running else {
            return Err(ToolError::new(format!("There is no agent {id} to wait for.")));
        };
        let report = running.await.map_err(ToolError::internal)??;
        serde_json::to_value(report).map_err(ToolError::internal)
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
