//! The six steps of an agent.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use omniassist_core::Text;
use omniassist_core::agent_tree::{ServerFrame, Status};
use omniassist_core::tree::AgentBudget;
use tokio::time::timeout;
use uuid::Uuid;

use super::query::UserQuery;
use super::tree::Tree;
use super::turn::{Failure, Purpose, turn};
use super::{decide, prompts, rules};
use crate::engine::tree::LedgerNode;

type Part<'a> = Pin<Box<dyn Future<Output = Option<Result<String, Failure>>> + Send + 'a>>;

/// Follows the program to its end, and shows the end.
pub(super) fn explore(tree: Arc<Tree>, node: LedgerNode) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let id = node.agent_id().clone();
        tree.nodes().set_status(&id, Status::Running);
        let ended = tree.unless_cancelled(&id, Agent { tree: &tree, node: &node }.follow()).await;
        let mut nodes = tree.nodes();
        match ended {
            // The state is that of the user's wish.
            None => {}
            Some(Ok(answer)) => {
                nodes.end(&id, Status::Completed, Some(answer.clone()));
                if node.depth() == 0 {
                    let (usage, agent_id, result) = (Some(nodes.usage()), Some(id), Some(answer));
                    nodes.push(ServerFrame::AgentCompleted { agent_id, result, usage });
                }
            }
            Some(Err(Failure { code, message, .. })) => {
                tracing::warn!(code = %&*code, agent_id = %&*id, "an agent of a tree has failed");
                nodes.end(&id, Status::Failed, None);
                if node.depth() == 0 {
                    let (error, code, agent_id) = (message, Some(code), Some(id));
                    nodes.push(ServerFrame::Error { error, code, agent_id });
                }
            }
        }
    })
}

/// An agent that follows the program.
struct Agent<'a> {
    tree: &'a Arc<Tree>,
    node: &'a LedgerNode,
}

impl Agent<'_> {
    async fn follow(self) -> Result<Text, Failure> {
        let Self { tree, node } = self;
        let settings = tree.settings;
        if settings.asks {
            self.step(1);
            self.consult(prompts::CLARIFY, "", || rules::clarification(&self.task())).await;
            self.step(2);
            self.consult(prompts::BLOCK, "", || None).await;
        }
        self.step(3);
        let questions = self.plan().await;
        self.step(4);
        let children = self.spawn(questions);
        let ids: Vec<Text> = children.iter().map(|node| node.agent_id().clone()).collect();
        let written = self.work_beside(children).await?;
        self.step(6);
        let results = self.results(&ids);
        let mut answer = match (self.must_answer(), results.is_empty()) {
            (true, _) => self.answer(prompts::ANSWER_NOW, &written, &results).await?,
            (false, true) => written,
            (false, false) => self.answer(prompts::SUMMARISE, &written, &results).await?,
        };
        if settings.asks
            && node.depth() == 0
            && self.consult(prompts::FINAL, &answer, || None).await
            && !self.must_answer()
        {
            answer = self.answer(prompts::SUMMARISE, &answer, &results).await?;
        }
        Ok(answer.into())
    }

    fn id(&self) -> &Text {
        self.node.agent_id()
    }

    fn step(&self, step: u8) {
        self.tree.nodes().set_step(self.id(), step);
    }

    fn task(&self) -> Text {
        self.tree.nodes().get(self.id()).map(|node| node.state.user_content.clone()).unwrap_or_default()
    }

    fn must_answer(&self) -> bool {
        self.tree.must_answer(self.id(), None)
    }

    /// Returns the prompt of a model call, which has all that the user has said so far. Waits while the user has paused the
    /// agent.
    async fn brief(&self, instruction: &str, written: &str, results: &[(String, String)]) -> String {
        self.tree.gate(self.id()).await;
        let mut nodes = self.tree.nodes();
        let Some(node) = nodes.get_mut(self.id()) else { return String::new() };
        node.has_changed = false;
        prompts::brief(instruction, &node.state.user_content, &node.notes, written, results)
    }

    /// Asks the user what the model, or the rule, wants to know. Returns `true` if there was a question.
    async fn consult(&self, instruction: &str, written: &str, rule: impl FnOnce() -> Option<String>) -> bool {
        if self.must_answer() {
            return false;
        }
        let prompt = self.brief(instruction, written, &[]).await;
        let Some(question) = decide::question(self.tree, self.node, prompt, rule).await else { return false };
        self.ask(question).await;
        true
    }

    async fn ask(&self, question: Text) {
        let (tree, id) = (self.tree, self.id());
        let (query_id, mut reply) = tree.open_query(id, &question);
        let answer = async {
            let own = async {
                match &tree.handler {
                    Some(handler) => {
                        let (agent_id, query_id, prompt) = (id.clone(), query_id.clone(), question.clone());
                        handler.query(UserQuery { agent_id, query_id, prompt }).await
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                answer = own => Some(answer),
                answer = &mut reply => answer.ok(),
                () = tree.wished_to_answer(id) => None,
            }
        };
        let answer = timeout(tree.settings.answer_timeout, answer).await.ok().flatten();
        drop(reply);
        tree.close_query(id, &query_id, question, answer);
    }

    async fn plan(&self) -> Vec<Text> {
        let settings = self.tree.settings;
        let may_divide = self.node.depth() < settings.depth && self.node.may_ask();
        if !may_divide || settings.sub_questions == 0 || self.must_answer() {
            return Vec::new();
        }
        let prompt = self.brief(prompts::PLAN, "", &[]).await;
        let task = self.task();
        let rule = || rules::sub_questions(&task, settings.sub_questions);
        decide::plan(self.tree, self.node, prompt, rule).await
    }

    /// Creates an agent for each question, as far as the limits of the tree allow.
    fn spawn(&self, questions: Vec<Text>) -> Vec<LedgerNode> {
        let mut nodes = Vec::new();
        for question in questions {
            let id = Text::from(Uuid::now_v7().to_string());
            match self.node.below(id.clone(), AgentBudget::new()) {
                Ok(node) => {
                    let parent = Some(self.id().clone());
                    let works_now = nodes.len() < self.node.max_parallel();
                    let status = if works_now { Status::Running } else { Status::Pending };
                    self.tree.begin(id, parent, node.depth(), question, status);
                    nodes.push(node);
                }
                Err(limit) => {
                    tracing::debug!(limit = limit.as_str(), "an agent has fewer parts than it planned");
                    break;
                }
            }
        }
        nodes
    }

    /// Works on the task while the agents below work, and waits for all. Returns what was written.
    async fn work_beside(&self, children: Vec<LedgerNode>) -> Result<String, Failure> {
        self.step(5);
        let most = self.node.max_parallel();
        let mut waiting = children.into_iter();
        let child = |node: LedgerNode| -> Part<'_> {
            let work = explore(Arc::clone(self.tree), node);
            Box::pin(async {
                work.await;
                None
            })
        };
        let mut parts: FuturesUnordered<Part<'_>> = FuturesUnordered::new();
        parts.push(Box::pin(async { Some(self.work().await) }));
        parts.extend(waiting.by_ref().take(most).map(child));
        let mut written = None;
        loop {
            let ended = tokio::select! {
                ended = parts.next() => ended,
                // The answer does not wait for those below.
                () = self.tree.wished_to_answer(self.id()), if written.is_some() => None,
            };
            match ended {
                None => break,
                Some(None) => parts.extend(waiting.next().map(child)),
                Some(Some(ended)) => {
                    let has_failed = ended.is_err();
                    written = Some(ended);
                    if has_failed || self.must_answer() {
                        break;
                    }
                }
            }
        }
        drop(parts);
        let mut nodes = self.tree.nodes();
        let below = nodes.below(self.id());
        nodes.cancel(below.get(1..).unwrap_or_default());
        drop(nodes);
        written.unwrap_or_else(|| Ok(String::new()))
    }

    /// Works on the task, and again when the user has changed it meanwhile.
    async fn work(&self) -> Result<String, Failure> {
        let mut written = String::new();
        while !self.must_answer() {
            let prompt = self.brief(prompts::WORK, &written, &[]).await;
            match turn(self.tree, self.node, prompt, &Purpose::Work).await {
                Ok(text) if text.is_empty() => {}
                Ok(text) => written = text,
                Err(failure) if failure.is_limit && !written.is_empty() => break,
                Err(failure) => return Err(failure),
            }
            if !self.tree.has_changed(self.id()) {
                break;
            }
        }
        Ok(written)
    }

    /// Writes the answer. If a limit of the tree allows no other model call, it is what was written before.
    async fn answer(
        &self,
        instruction: &str,
        written: &str,
        results: &[(String, String)],
    ) -> Result<String, Failure> {
        let tree = self.tree;
        let prompt = self.brief(instruction, written, results).await;
        if !written.is_empty() {
            tree.nodes().delta(self.id(), Text::from_static("\n\n"));
        }
        match turn(tree, self.node, prompt, &Purpose::Answer).await {
            Err(failure) if failure.is_limit && !written.is_empty() => Ok(written.to_owned()),
            answered => answered,
        }
    }

    /// Returns the questions of the agents below, with what they have answered.
    fn results(&self, ids: &[Text]) -> Vec<(String, String)> {
        let nodes = self.tree.nodes();
        let result = |id: &Text| {
            let state = &nodes.get(id)?.state;
            let result = match (&state.result, state.status) {
                (Some(result), _) => result.to_string(),
                (None, Status::Cancelled) => "(cancelled by the user)".to_owned(),
                (None, _) => "(failed)".to_owned(),
            };
            Some((state.user_content.to_string(), result))
        };
        ids.iter().filter_map(result).collect()
    }
}
