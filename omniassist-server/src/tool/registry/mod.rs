mod attached;
mod catalog;
mod components;
mod deferred;
mod indexed;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use omniassist_core::run::ClientAbilities;
use omniassist_core::{JsonText, Limits, Text, ToolSide, ToolSpec, check_tool_name};
use tokio_util::task::TaskTracker;

use self::indexed::{IndexedTools, ToolMap};
use super::Tool;
use super::call::{RegisteredTool, RunningTool, ToolInvocation, check_name, run};
use super::context::StateMap;
use super::search::{Search, TOOL_SEARCH};
use super::source::Attachments;
use crate::{Error, Principal, Result, RunContext};

/// The characters of the called name in the answer to a call of an unknown tool.
const MAX_SHOWN_NAME: usize = 64;

/// Bytes of the tools' names in the answer to a call of an unknown tool.
const MAX_LISTED_BYTES: usize = 1_000;

/// The tools of an assistant, which can change while it serves. Cloning gives another handle to the same tools.
///
/// A run works with the [`snapshot`](Self::snapshot) that was current when it began. Later registrations and removals
/// apply to the next run.
///
/// ```
/// use omniassist_server::core::Limits;
/// use omniassist_server::tool::{StateMap, Tool, ToolError, Tools};
///
/// let tools = Tools::new(StateMap::new(), Limits::default());
/// let before = tools.snapshot();
/// tools.register(Tool::new("ping", "Asks the warehouse for a sign of life", async || Ok::<_, ToolError>("pong")))?;
///
/// assert!(before.get("ping").is_none());
/// assert!(tools.snapshot().get("ping").is_some());
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
pub struct Tools {
    inner: Arc<Inner>,
}

struct Inner {
    current: RwLock<ToolSnapshot>,
    state: Arc<StateMap>,
    sources: Mutex<Attachments>,
    tasks: TaskTracker,
}

impl Tools {
    /// Creates an empty registry. Its tools find their [`State`](super::State) in `state`.
    #[must_use]
    pub fn new(state: impl Into<Arc<StateMap>>, limits: Limits) -> Self {
        Self::with_search(state, limits, None)
    }

    fn with_search(state: impl Into<Arc<StateMap>>, limits: Limits, search: Option<Arc<Search>>) -> Self {
        let current = RwLock::new(ToolSnapshot::of(ToolMap::new(), Arc::new(limits), search));
        let (sources, tasks) = (Mutex::default(), TaskTracker::new());
        Self { inner: Arc::new(Inner { current, state: state.into(), sources, tasks }) }
    }

    /// Adds a tool. Runs that have begun do not see it. It takes the place of a tool of a [source](super::source) with the same
    /// name.
    ///
    /// # Errors
    ///
    /// Returns an error that names the tool and the remedy in these cases:
    ///
    /// - The name is taken or not allowed, or the description is empty.
    /// - The function has two [`Args`](super::Args), or the host gave no value for a [`State`](super::State).
    /// - A provider would refuse the schema, or an example does not fit it.
    pub fn register(&self, tool: Tool) -> Result<()> {
        let tool = self.check(tool)?;
        let mut current = crate::sync::write(&self.inner.current);
        let name = tool.spec().name.clone();
        if current.inner.tools.get(&name).is_some_and(|tool| tool.source().is_none()) {
            return Err(Error::invalid_tool(name, "a tool of this name is already registered"));
        }
        let is_conditional = tool.is_conditional();
        current.change(|tools| tools.insert(name, Arc::new(tool)));
        Arc::make_mut(&mut current.inner).is_conditional |= is_conditional;
        Ok(())
    }

    /// Checks a tool without registering it.
    pub(crate) fn check(&self, tool: Tool) -> Result<RegisteredTool> {
        let current = self.snapshot();
        if tool.name() == TOOL_SEARCH && current.inner.search.is_some() {
            let reason = "this is the name of the built-in search; give the tool another name";
            return Err(Error::invalid_tool(tool.name().to_owned(), reason));
        }
        RegisteredTool::check(tool, &self.inner.state, &current.inner.limits)
    }

    /// Returns the values of the host.
    pub(crate) fn state(&self) -> &Arc<StateMap> {
        &self.inner.state
    }

    /// Removes a tool that was registered. Returns `true` if it existed. Runs that have begun keep it.
    #[expect(clippy::must_use_candidate, reason = "callers may ignore whether the tool existed")]
    pub fn unregister(&self, name: &str) -> bool {
        let mut current = crate::sync::write(&self.inner.current);
        if current.inner.tools.get(name).is_none_or(|tool| tool.source().is_some()) {
            return false;
        }
        current.change(|tools| tools.remove(name));
        true
    }

    /// Returns the names of all tools, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<Text> {
        self.snapshot().inner.tools.keys().cloned().collect()
    }

    /// Returns the current tools. This costs a reference count.
    #[must_use]
    pub fn snapshot(&self) -> ToolSnapshot {
        crate::sync::read(&self.inner.current).clone()
    }

    /// Starts a call on the current tokio runtime. The call runs even if the handle is not polled; dropping the handle
    /// cancels the call. See [`RunningTool`].
    ///
    /// The arguments must have passed [`ToolSnapshot::check`]. Outside a tokio runtime, and for a front-end tool, the
    /// call fails at once.
    pub fn start(&self, tool: &Arc<RegisteredTool>, invocation: ToolInvocation) -> RunningTool {
        let grace = self.snapshot().inner.limits.tool_cancel_grace;
        run::start(tool, invocation, tool.state_or(&self.inner.state), grace, &self.inner.tasks)
    }

    /// Waits until no tool call runs, cancelled ones included. It does not cancel calls. Dropping the future only stops the
    /// waiting.
    pub fn idle(&self) -> impl Future<Output = ()> + Send + 'static {
        let tasks = self.inner.tasks.clone();
        async move {
            tasks.close();
            tasks.wait().await;
        }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools")
            .field("names", &self.names())
            .field("state", &self.inner.state)
            .field("tasks", &self.inner.tasks.len())
            .finish_non_exhaustive()
    }
}

/// The tools of one run. It never changes. Cloning costs a reference count.
#[derive(Clone, Default)]
pub struct ToolSnapshot {
    inner: Arc<Snapshot>,
    principal: Principal,
}

#[derive(Clone, Default)]
struct Snapshot {
    tools: Arc<ToolMap>,
    /// The descriptions for the model. Unless there is another order, they are sorted by name.
    specs: OnceLock<Arc<[Arc<ToolSpec>]>>,
    /// Those that are sent without a search. `None` if all are.
    eager: OnceLock<Option<Arc<[Arc<ToolSpec>]>>>,
    registered: Arc<IndexedTools>,
    /// Tools that the conversation may contain calls of, and that cannot be called.
    withheld: BTreeMap<Text, ToolSide>,
    /// Names of `withheld` that must not be revealed to the caller.
    hidden: BTreeSet<Text>,
    /// `false` if each of the tools is visible to all callers.
    is_conditional: bool,
    limits: Arc<Limits>,
    /// The search for deferred tools. `None` in a registry without deferral.
    search: Option<Arc<Search>>,
}

impl ToolSnapshot {
    /// Creates a snapshot. The tools are sorted by name, so that every instance sends providers the same request.
    fn of(tools: ToolMap, limits: Arc<Limits>, search: Option<Arc<Search>>) -> Self {
        let tools = Arc::new(tools);
        let is_conditional = tools.values().any(|tool| tool.is_conditional());
        let withheld =
            search.iter().map(|search| (search.tool.spec().name.clone(), ToolSide::Server)).collect();
        let registered = Arc::new(IndexedTools::of(&tools));
        let inner =
            Snapshot { tools, registered, withheld, is_conditional, limits, search, ..Snapshot::default() };
        Self { inner: Arc::new(inner), principal: Principal::anonymous() }
    }

    /// Returns a snapshot of these tools, with the limits and the search of this one.
    fn with_registered(&self, tools: ToolMap) -> Self {
        Self::of(tools, Arc::clone(&self.inner.limits), self.inner.search.clone())
    }

    /// Changes the registered tools. They are copied only if there is another snapshot of them, so that many registrations
    /// take linear time.
    fn change<T>(&mut self, change: impl FnOnce(&mut ToolMap) -> T) {
        let inner = Arc::make_mut(&mut self.inner);
        (inner.specs, inner.eager) = (OnceLock::new(), OnceLock::new());
        inner.registered = Arc::default();
        change(Arc::make_mut(&mut inner.tools));
        inner.registered = Arc::new(IndexedTools::of(&inner.tools));
    }

    /// Returns a snapshot of other tools for the same principal.
    fn holding(
        &self,
        tools: ToolMap,
        specs: Arc<[Arc<ToolSpec>]>,
        withheld: BTreeMap<Text, ToolSide>,
    ) -> Self {
        let mut inner = Snapshot::clone(&self.inner);
        (inner.tools, inner.withheld) = (Arc::new(tools), withheld);
        (inner.specs, inner.eager) = (specs.into(), OnceLock::new());
        Self { inner: Arc::new(inner), principal: self.principal.clone() }
    }

    /// Returns a snapshot of one tool, for a call that another tool makes.
    pub(crate) fn of_one(tool: Arc<RegisteredTool>, limits: Limits) -> Self {
        Self::of(BTreeMap::from([(tool.spec().name.clone(), tool)]), Arc::new(limits), None)
    }

    /// Sets the principal of the run, which approval policies see.
    #[must_use]
    pub fn for_principal(mut self, principal: Principal) -> Self {
        self.principal = principal;
        self
    }

    /// Returns the tools that a client supports: without the registered front-end tools, or without forms, if the client
    /// cannot run them.
    pub(crate) fn for_abilities(&self, abilities: ClientAbilities) -> Self {
        let keeps = |tool: &RegisteredTool| match tool.spec().side {
            _ if !abilities.components && !tool.has_text() => false,
            ToolSide::Server => true,
            ToolSide::FrontEnd if tool.asks_user() => abilities.forms,
            ToolSide::FrontEnd => abilities.front_end_tools,
        };
        if self.inner.tools.values().all(|tool| keeps(tool)) {
            return self.clone();
        }
        let tools = self.inner.tools.iter().filter(|(_, tool)| keeps(tool));
        let tools = tools.map(|(name, tool)| (name.clone(), Arc::clone(tool))).collect();
        self.with_registered(tools).for_principal(self.principal.clone())
    }

    /// Returns the tools that a caller sees. `caller` is called only if some tool has a condition.
    #[must_use]
    pub fn visible_to(&self, caller: impl FnOnce() -> RunContext) -> Self {
        if !self.inner.is_conditional {
            return self.clone();
        }
        let caller = caller();
        self.hiding(|tool| !tool.is_visible_to(&caller))
    }

    /// Returns the same tools without those that `hides` selects. A hidden tool is answered like one that does not exist;
    /// the outputs that it gave earlier in the conversation stay.
    pub(crate) fn hiding(&self, hides: impl Fn(&RegisteredTool) -> bool) -> Self {
        let gone = self.inner.tools.iter().filter(|(_, tool)| hides(tool));
        let gone: ToolMap = gone.map(|(name, tool)| (name.clone(), Arc::clone(tool))).collect();
        if gone.is_empty() {
            return self.clone();
        }
        let mut tools = ToolMap::clone(&self.inner.tools);
        tools.retain(|name, _| !gone.contains_key(name));
        let specs = self.specs_where(|spec| !gone.contains_key(&spec.name));
        let (mut withheld, mut hidden) = (self.inner.withheld.clone(), self.inner.hidden.clone());
        for (name, tool) in gone {
            hidden.insert(name.clone());
            withheld.insert(name, tool.spec().side);
        }
        let mut left = self.holding(tools, specs, withheld);
        Arc::make_mut(&mut left.inner).hidden = hidden;
        left
    }

    /// Returns the same tools, with names that belong to the server even where there is no such tool.
    pub(crate) fn reserving(&self, names: impl IntoIterator<Item = Text>) -> Self {
        let mut withheld = self.inner.withheld.clone();
        withheld.extend(names.into_iter().map(|name| (name, ToolSide::Server)));
        self.withholding(withheld)
    }

    /// Returns the same tools and another one, which comes last.
    pub(crate) fn with_tool(&self, tool: RegisteredTool) -> Result<Self> {
        let name = tool.spec().name.clone();
        let mut tools = ToolMap::clone(&self.inner.tools);
        let specs = self.specs().iter().chain([tool.spec()]).map(Arc::clone).collect();
        if tools.insert(name.clone(), Arc::new(tool)).is_some() {
            return Err(Error::invalid_tool(name, "the run has a tool of this name already"));
        }
        Ok(self.holding(tools, specs, self.inner.withheld.clone()))
    }

    /// Returns the same tools with other withheld ones.
    fn withholding(&self, withheld: BTreeMap<Text, ToolSide>) -> Self {
        let mut inner = Snapshot::clone(&self.inner);
        inner.withheld = withheld;
        Self { inner: Arc::new(inner), principal: self.principal.clone() }
    }

    /// Returns `true` if there was a tool of this name, and it is hidden.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        self.inner.hidden.contains(name) && self.get(name).is_none()
    }

    /// Returns the tool with exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.inner.tools.get(name).or_else(|| self.search_tool().filter(|tool| tool.spec().name == name))
    }

    /// Returns the form, if there is one.
    pub(crate) fn form(&self) -> Option<&Arc<RegisteredTool>> {
        self.inner.tools.values().find(|tool| tool.is_form())
    }

    /// Returns the descriptions for the model: the registered tools by name, then those that the client declared, in the
    /// client's order.
    #[must_use]
    pub fn specs(&self) -> Arc<[Arc<ToolSpec>]> {
        let sorted = || self.inner.tools.values().map(|tool| Arc::clone(tool.spec())).collect();
        Arc::clone(self.inner.specs.get_or_init(sorted))
    }

    fn specs_where(&self, selects: impl Fn(&ToolSpec) -> bool) -> Arc<[Arc<ToolSpec>]> {
        self.specs().iter().filter(|spec| selects(spec)).map(Arc::clone).collect()
    }

    /// Returns the tools, the search included.
    pub(crate) fn registered(&self) -> impl Iterator<Item = &RegisteredTool> {
        self.search_tool().into_iter().chain(self.inner.tools.values()).map(AsRef::as_ref)
    }

    /// Returns the tools that a [source](super::source) offers.
    pub(super) fn of_source<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a RegisteredTool> {
        let tools = self.inner.tools.values().map(AsRef::as_ref);
        tools.filter(move |tool: &&RegisteredTool| tool.source().is_some_and(|of| of == source))
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.tools.len()
    }

    /// Returns `true` if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.tools.is_empty()
    }

    /// Returns the side that runs the tool with exactly this name, or that ran it earlier. Returns `None` when there is no
    /// such tool.
    #[must_use]
    pub fn side(&self, name: &str) -> Option<ToolSide> {
        match self.get(name) {
            Some(tool) => Some(tool.spec().side),
            None => self.inner.withheld.get(name).copied(),
        }
    }

    /// Checks a call: there is a tool with exactly this name, and the arguments fit its schema.
    ///
    /// # Errors
    ///
    /// Returns a text for the model. For arguments it names the place (as a JSON pointer) and the rule, in at most 500
    /// bytes; for an unknown tool it lists the tools that exist, in about 1,000 bytes.
    pub fn check(&self, name: &str, arguments: &JsonText) -> Result<(), Text> {
        match self.get(name) {
            Some(tool) => tool.check_arguments(arguments),
            None => Err(self.no_such_tool(name)),
        }
    }

    /// Returns the text for a model that calls a tool which does not exist. It lists the names of the tools there are. A name
    /// that providers refuse is part of the text, since the call is sent to them under another name.
    fn no_such_tool(&self, name: &str) -> Text {
        let name = match check_tool_name(name) {
            Ok(()) => String::new(),
            Err(_) => format!(" ({:?})", name.chars().take(MAX_SHOWN_NAME).collect::<String>()),
        };
        let names = self.listed_names();
        if names.is_empty() {
            return format!("There is no tool of this name{name}, and there are no other tools.").into();
        }
        format!("There is no tool of this name{name}. The tools are: {names}").into()
    }

    /// Returns the names of the tools in about 1,000 bytes.
    fn listed_names(&self) -> Text {
        let search = self.search_tool().map(|tool| tool.spec());
        let specs = self.specs();
        let specs = search.into_iter().chain(specs.iter());
        let names: Vec<&str> = specs.map(|spec| spec.name.as_str()).collect();
        let listed = names
            .iter()
            .scan(0, |bytes, name| {
                *bytes += name.len() + 2;
                (*bytes <= MAX_LISTED_BYTES).then_some(())
            })
            .count()
            .max(1);
        let text = names.get(..listed).unwrap_or_default().join(", ");
        match names.len().saturating_sub(listed) {
            _ if names.is_empty() => Text::new(),
            0 => format!("{text}.").into(),
            more => format!("{text} and {more} more.").into(),
        }
    }

    /// Returns the same tools and those that a client declares for one run, which the client runs itself. A declared tool
    /// with the name of a registered front-end tool or of a component is left out.
    ///
    /// # Errors
    ///
    /// Returns an error with the path of the tool (`tools[2]`) in these cases:
    ///
    /// - It has the name of a server tool, of another declared tool, or one that is not allowed.
    /// - A provider would refuse its schema, or the schema is too large with its references followed.
    pub fn with_declared(&self, declared: &[Arc<ToolSpec>]) -> Result<Self, omniassist_core::Error> {
        if declared.is_empty() {
            return Ok(self.clone());
        }
        let mut tools = ToolMap::clone(&self.inner.tools);
        let mut specs = self.specs().to_vec();
        for (index, spec) in declared.iter().enumerate() {
            let refuse =
                |reason: String| omniassist_core::Error::invalid_tool(format!("tools[{index}]"), reason);
            check_name(&spec.name).map_err(refuse)?;
            // The error must not reveal the name of a hidden tool.
            match self.side(&spec.name).filter(|_| !self.is_hidden(&spec.name)) {
                // The client declares how it shows the component.
                Some(ToolSide::Server) if self.shows_component(&spec.name) => continue,
                Some(ToolSide::Server) => {
                    return Err(refuse(format!(
                        "`{}` is the name of a tool that the server runs",
                        spec.name
                    )));
                }
                Some(ToolSide::FrontEnd) => continue,
                None => {}
            }
            if tools.contains_key(&spec.name) {
                return Err(refuse(format!("`{}` is the name of another declared tool", spec.name)));
            }
            let tool = RegisteredTool::declared(spec, &self.inner.limits).map_err(refuse)?;
            specs.push(Arc::clone(tool.spec()));
            tools.insert(spec.name.clone(), Arc::new(tool));
        }
        Ok(self.holding(tools, specs.into(), self.inner.withheld.clone()))
    }

    /// Returns the same tools, with the names of tools that the client ran earlier. The conversation may contain calls
    /// of these tools. The model does not receive their names, and a new call of one is refused. Names of existing
    /// tools are ignored.
    #[must_use]
    pub fn with_past(&self, names: &[Text]) -> Self {
        if names.is_empty() {
            return self.clone();
        }
        let mut withheld = self.inner.withheld.clone();
        for name in names.iter().filter(|name| self.side(name).is_none()) {
            withheld.insert(name.clone(), ToolSide::FrontEnd);
        }
        self.withholding(withheld)
    }

    /// Returns the same tools without those that the server runs. Their names stay reserved for the server, and a call of
    /// one is refused.
    #[must_use]
    pub fn without_server_tools(&self) -> Self {
        let is_ours = |side: ToolSide| side == ToolSide::Server;
        let (gone, tools): (ToolMap, ToolMap) =
            ToolMap::clone(&self.inner.tools).into_iter().partition(|(_, tool)| is_ours(tool.spec().side));
        let mut withheld = self.inner.withheld.clone();
        withheld.extend(gone.into_keys().map(|name| (name, ToolSide::Server)));
        let specs = self.specs_where(|spec| !is_ours(spec.side));
        self.holding(tools, specs, withheld)
    }
}
