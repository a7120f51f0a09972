use std::collections::HashMap;
use std::future::{Future, ready};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::tool::ToolContext;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProgressToken, RequestId, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};
use serde_json::json;
use tokio::sync::{Notify, RwLock, mpsc, oneshot};
use tokio::time::Instant;

use crate::client::{app_meta, cleaned};
use crate::sync::lock;

/// The questions of a call that are not read yet.
const MAX_UNREAD: usize = 8;

/// The time in which a question can belong to a call that ended without an answer.
const LEFT_FOR: Duration = Duration::from_secs(5 * 60);

/// The client's side of a connection.
#[derive(Clone, Default)]
pub(super) struct Handler {
    /// `true` if the apps of the server can be shown.
    has_apps: bool,
    /// Is notified when the server's tools have changed.
    pub(super) changed: Arc<Notify>,
    /// Is read while a call is sent and registered, so that no question comes before.
    pub(super) sending: Arc<RwLock<()>>,
    open: Arc<Mutex<OpenCalls>>,
}

#[derive(Default)]
struct OpenCalls {
    calls: HashMap<RequestId, RegisteredCall>,
    /// The users whose calls ended without an answer, with the time: the server may still work for them. Two are enough to know
    /// that there are several.
    left: HashMap<Principal, Instant>,
}

struct RegisteredCall {
    owner: Principal,
    token: ProgressToken,
    /// `None` while the call waits for its user.
    shows: Option<ToolContext>,
    questions: mpsc::Sender<Elicitation>,
}

/// The registration of an open call, which ends when this value is dropped.
pub(super) struct Registration {
    handler: Handler,
    id: RequestId,
    pub(super) is_answered: bool,
}

/// A question of a server during a call.
pub(in crate::client) struct Elicitation {
    pub(in crate::client) asked: ElicitRequestParams,
    pub(in crate::client) reply: Reply,
}

/// The receiver of an answer.
pub(in crate::client) type Reply = oneshot::Sender<Result<ElicitResult, ErrorData>>;

impl Handler {
    /// Creates the side of a client that shows the apps of the server, or does not.
    pub(super) fn new(has_apps: bool) -> Self {
        Self { has_apps, ..Self::default() }
    }

    /// Returns what a request says of the client.
    pub(super) fn capabilities(&self, can_ask: bool) -> ClientCapabilities {
        capabilities(can_ask, self.has_apps)
    }

    /// Registers a call that was sent, so that it shows progress and can be asked.
    pub(super) fn register(
        &self,
        id: RequestId,
        token: ProgressToken,
        call: &ToolContext,
    ) -> (Registration, mpsc::Receiver<Elicitation>) {
        let (questions, asked) = mpsc::channel(MAX_UNREAD);
        let owner = call.run().principal().clone();
        let registered = RegisteredCall { owner, token, shows: Some(call.clone()), questions };
        self.open().calls.insert(id.clone(), registered);
        (Registration { handler: self.clone(), id, is_answered: false }, asked)
    }

    fn open(&self) -> MutexGuard<'_, OpenCalls> {
        lock(&self.open)
    }
}

impl OpenCalls {
    /// Returns the call that a question belongs to. Over HTTP, its stream shows it. Over other transports it is the only call,
    /// if all calls are those of one user: a question must not reach another one.
    fn asked(&self, origin: Option<&InboundStreamOrigin>) -> Option<&RegisteredCall> {
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin {
            return self.calls.get(id);
        }
        let mut active = self.calls.values().filter(|call| call.shows.is_some());
        let (call, None) = (active.next()?, active.next()) else { return None };
        let left = self.left.iter().filter(|(_, since)| since.elapsed() < LEFT_FOR).map(|(owner, _)| owner);
        let mut owners = self.calls.values().map(|call| &call.owner).chain(left);
        owners.all(|owner| *owner == call.owner).then_some(call)
    }

    /// Takes a user whose call ended without an answer. The last two stay.
    fn leave(&mut self, owner: Principal) {
        self.left.insert(owner, Instant::now());
        if self.left.len() > 2
            && let Some(oldest) =
                self.left.iter().min_by_key(|(_, since)| **since).map(|(owner, _)| owner.clone())
        {
            self.left.remove(&oldest);
        }
    }
}

impl Registration {
    /// Shows progress as that of this call, or not at all.
    pub(super) fn show_progress(&self, call: Option<&ToolContext>) {
        if let Some(registered) = self.handler.open().calls.get_mut(&self.id) {
            registered.shows = call.cloned();
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = self.handler.open();
        let ended = open.calls.remove(&self.id);
        if let Some(call) = ended.filter(|_| !self.is_answered) {
            open.leave(call.owner);
        }
    }
}

impl ClientHandler for Handler {
    fn on_progress(
        &self,
        given: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        let call = {
            let open = self.open();
            let registered = open.calls.values().find(|call| call.token == given.progress_token);
            registered.and_then(|call| call.shows.clone())
        };
        if let Some(call) = call {
            let message = given.message.as_deref().map(cleaned::description);
            call.progress(json!({"progress": given.progress, "total": given.total, "message": message}));
        }
        ready(())
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.notify_one();
        ready(())
    }

    /// Passes a question on to its call. Nobody can answer one outside of a call.
    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        drop(self.sending.write().await);
        let questions = {
            let open = self.open();
            open.asked(context.extensions.get()).map(|call| call.questions.clone())
        };
        let (reply, answer) = oneshot::channel();
        let is_passed =
            questions.is_some_and(|questions| questions.try_send(Elicitation { asked, reply }).is_ok());
        if is_passed && let Some(Ok(answer)) = context.ct.run_until_cancelled(answer).await {
            return answer;
        }
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("omniassist", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(self.capabilities(true), client)
    }
}

/// Returns what the client can do for the server: show its apps, and show forms and pages, if there is a user who can be asked.
///
/// Until version 2025-11-25, a connection has one set for all its calls. A call that cannot ask declines there. Later versions
/// have the set in each request.
fn capabilities(can_ask: bool, has_apps: bool) -> ClientCapabilities {
    let asks = || {
        ElicitationCapability::new()
            .with_form(FormElicitationCapability::new())
            .with_url(UrlElicitationCapability::new())
    };
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = can_ask.then(asks);
    capabilities.extensions = has_apps.then(app_meta::extension);
    capabilities
}
