//! Tests of agents that are configured as data.

mod browser;
mod cached;
mod errors;
mod files;
mod handoff;
mod limits;
mod lists;
mod stored;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use omniassist_server::agent_config::{
    AgentCatalog, AgentConfig, AgentFuture, AgentLoader, AgentSummary, Edge, Node,
};
use omniassist_server::observe::Observe;

use super::*;

/// The time for which a configuration counts as current.
const TTL: Duration = Duration::from_secs(30);

/// The rows of a table of agents, by their owner and their id.
type Rows = BTreeMap<(&'static str, &'static str), Value>;

/// A table of agents.
#[derive(Clone, Default)]
struct Table {
    rows: Arc<Mutex<Rows>>,
    loads: Arc<AtomicUsize>,
    lists: Arc<AtomicUsize>,
    is_down: Arc<AtomicBool>,
    /// The number of loads that still fail.
    failures: Arc<AtomicUsize>,
    delay: Duration,
}

impl Table {
    /// Creates a table with the agents of `ada`.
    fn of<const N: usize>(rows: [(&'static str, Value); N]) -> Self {
        let table = Self::default();
        rows.into_iter().for_each(|(id, row)| table.set("ada", id, row));
        table
    }

    fn set(&self, owner: &'static str, id: &'static str, row: Value) {
        self.rows.lock().unwrap().insert((owner, id), row);
    }

    fn loads(&self) -> usize {
        self.loads.load(Ordering::SeqCst)
    }

    fn fail(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }
}

fn down() -> Box<dyn StdError + Send + Sync> {
    "the table is down".into()
}

impl AgentLoader for Table {
    fn load<'a>(&'a self, id: &'a str, principal: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
        Box::pin(async move {
            self.loads.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(self.delay).await;
            let still =
                self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if self.is_down.load(Ordering::SeqCst) || still.is_ok() {
                return Err(down());
            }
            let is_asked =
                |((owner, name), _): &(&(&str, &str), &Value)| *owner == principal.id() && *name == id;
            let row = self.rows.lock().unwrap().iter().find(is_asked).map(|(_, row)| row.clone());
            match row {
                Some(Value::String(panics)) => panic!("{panics}"),
                Some(row) => Ok(Some(AgentConfig::from_json(&row.to_string())?)),
                None => Ok(None),
            }
        })
    }

    fn list<'a>(&'a self, principal: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
        Box::pin(async move {
            self.lists.fetch_add(1, Ordering::SeqCst);
            if self.is_down.load(Ordering::SeqCst) {
                return Err(down());
            }
            let rows = self.rows.lock().unwrap();
            let own = rows.iter().filter(|((owner, _), _)| *owner == principal.id());
            Ok(own.map(|((_, id), row)| summary(id, row)).collect())
        })
    }
}

fn summary(id: &str, row: &Value) -> AgentSummary {
    let summary = AgentSummary::new(id, row["description"].as_str().unwrap_or("Does something."));
    match row["name"].as_str() {
        Some(name) => summary.with_name(name),
        None => summary,
    }
}

/// The failures that an observer was told of.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<(String, String)>>>);

impl Told {
    /// Returns the error of the only failure, with its sources.
    fn only(&self) -> String {
        let mut told = self.0.lock().unwrap();
        let told = std::mem::take(&mut *told);
        let [(_, error)] = &told[..] else { panic!("{told:?}") };
        error.clone()
    }
}

impl Observe for Told {
    fn agent_not_loaded(&self, agent: &str, error: &(dyn StdError + 'static)) {
        let mut text = error.to_string();
        let mut next = error.source();
        while let Some(source) = next {
            text = format!("{text}: {source}");
            next = source.source();
        }
        self.0.lock().unwrap().push((agent.to_owned(), text));
    }
}

/// Returns an assistant with a tool of its own, and a catalog with the tools `discount` and `count`.
fn catalog(loader: impl AgentLoader) -> AgentCatalog {
    AgentCatalog::new(loader).tool(tool("discount")).tool(tool("count")).placeholder("shop", "Lamps Ltd.")
}

fn assistant_of(model: &ScriptedProvider, catalog: AgentCatalog, told: &Told) -> Assistant {
    Assistant::builder(model.clone())
        .system_prompt("You help.")
        .tool(tool("help"))
        .agents(catalog)
        .observe(told.clone())
        .build()
        .unwrap()
}

async fn run(assistant: &Assistant, user: &str, agent: &str) -> (StatusCode, String) {
    send(assistant, user, Method::POST, &format!("/api/run/{agent}"), Some(&question())).await
}

/// Returns a configuration as React Flow stores one.
fn graph() -> Value {
    json!({
        "version": 3,
        "id": "sales",
        "name": "Sales",
        "description": "Sells lamps.",
        "nodes": [
            {
                "id": "1", "type": "agent", "position": { "x": 250, "y": 5 }, "width": 150, "selected": true,
                "data": { "label": "Sales", "prompt": "You sell for {{shop}}, and only for {{ shop }}.", "maxSteps": 4 },
            },
            { "id": "2", "type": "tool", "position": { "x": 1, "y": 2 }, "data": { "name": "discount", "icon": "%" } },
            {
                "id": "3", "type": "agent", "data": {
                    "name": "stock", "description": "Counts lamps.", "prompt": "You count.", "provider": "small",
                    "model": "tiny", "budget": { "modelCalls": 3 },
                },
            },
            { "id": "4", "type": "tool", "data": { "name": "count" } },
            { "id": "5", "type": "agent", "data": { "ref": "clerk" } },
        ],
        "edges": [
            { "id": "e1", "source": "1", "target": "2", "animated": true },
            { "id": "e2", "source": "1", "target": "3", "data": { "kind": "delegate", "color": "red" } },
            { "id": "e3", "source": "3", "target": "4" },
            { "id": "e4", "source": "1", "target": "5" },
        ],
        "viewport": { "x": 0, "y": 0, "zoom": 1 },
    })
}

/// Contract A.2, 18: the nodes and edges of a database become agents, tools and delegates.
#[tokio::test]
async fn a_graph_becomes_agents_with_tools_and_delegates() {
    let task = |agent: &str| call(agent, json!({ "task": "How many?" }));
    let model =
        ScriptedProvider::new().turn([task("stock"), task("clerk")]).turn(text("Seven, says the clerk."));
    let (small, clerk) = (ScriptedProvider::new(), answering());
    let small = small.turn(call("count", json!({}))).turn(text("There are seven."));
    let catalog = catalog(Table::of([("sales", graph())])).provider("small", small.clone());
    let assistant = Assistant::builder(model.clone())
        .model("large")
        .tool(tool("help"))
        .agent(Agent::new("clerk", "Looks things up.").provider(clerk.clone()))
        .agents(catalog)
        .build()
        .unwrap();

    let (status, answer) = run(&assistant, "ada", "sales").await;
    assert!(status == StatusCode::OK && answer.contains("Seven, says the clerk."), "{status} {answer}");
    assert!(answer.contains(r#""name":"stock""#) && answer.contains(r#""name":"clerk""#), "{answer}");
    let prompt = "You sell for Lamps Ltd., and only for Lamps Ltd..".to_owned();
    let tools = ["clerk", "discount", "stock"].map(str::to_owned).to_vec();
    assert_eq!(last_call(&model), (prompt, Some("large".into()), tools));
    assert_eq!(last_call(&small), ("You count.".into(), Some("tiny".into()), vec!["count".into()]));
    assert_eq!(clerk.payloads().len(), 1);
    let read = format!("{:?}", model.payloads()[1].transcript);
    assert!(read.contains("There are seven.") && read.contains("Hello"), "{read}");
}

#[tokio::test]
async fn every_protocol_reaches_a_loaded_agent_and_lists_it() {
    let model = answering();
    let short =
        json!({ "id": "hr", "description": "Knows leave.", "prompt": "You know.", "tools": ["count"] });
    let mut sales = graph();
    sales["nodes"].as_array_mut().unwrap().truncate(2);
    sales["edges"].as_array_mut().unwrap().truncate(1);
    let table = Table::of([("sales", sales), ("hr", short)]);
    let assistant = assistant_of(&model, catalog(table), &Told::default());
    let ag_ui = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{ "id": "m1", "role": "user", "content": "Hi" }],
    });
    let chat = json!({ "model": "omniassist/hr", "messages": [{ "role": "user", "content": "Hi" }] });
    let single = json!({ "method": "agent/run", "params": { "agentId": "hr" }, "body": ag_ui });
    let posts = [
        ("/agents/hr", question()),
        ("/api/run/hr", question()),
        ("/agents/hr/completion", json!({ "prompt": "Hi" })),
        ("/agents/hr/ag-ui", ag_ui.clone()),
        ("/v1/chat/completions", chat),
        ("/copilotkit/agent/hr/run", ag_ui),
        ("/copilotkit", single),
    ];
    for (at, (path, body)) in posts.iter().enumerate() {
        let (status, answer) = send(&assistant, "ada", Method::POST, path, Some(body)).await;
        assert!(status == StatusCode::OK && answer.contains("Hello"), "{path}: {status} {answer}");
        assert_eq!(model.payloads().len(), at + 1, "{path}");
        assert_eq!(last_call(&model), ("You know.".into(), None, vec!["count".into()]), "{path}");
    }

    let hr = json!({ "id": "hr", "description": "Knows leave." });
    let sales = json!({ "id": "sales", "name": "Sales", "description": "Sells lamps." });
    assert_eq!(get(&assistant, "ada", "/agents").await, json!({ "agents": [hr, sales] }));
    assert_eq!(get(&assistant, "bob", "/agents").await, json!({ "agents": [] }));
    assert_eq!(get(&assistant, "ada", "/manifest.json").await["agents"], json!([hr, sales]));
    let models = get(&assistant, "ada", "/v1/models").await["data"].to_string();
    assert!(models.contains("\"omniassist/hr\"") && models.contains("\"omniassist/sales\""), "{models}");
    let info = get(&assistant, "ada", "/copilotkit/info").await;
    assert_eq!(info["agents"]["sales"]["description"], "Sells lamps.");
    assert_eq!(get(&assistant, "ada", "/v1/models/omniassist%2Fhr").await["id"], "omniassist/hr");
    let own = get(&assistant, "ada", "/agents/hr/manifest.json").await;
    assert_eq!((&own["agent"], &own["tools"][0]["name"]), (&json!("hr"), &json!("count")));
}

/// Must show 8: the agent of another user, an unknown one and a malformed name have equal answers.
#[tokio::test]
async fn an_agent_of_another_user_is_one_that_does_not_exist() {
    let model = answering();
    let of = |prompt: &str| json!({ "id": "own", "description": "Helps one user.", "prompt": prompt });
    let mut hidden = of("You are hidden.");
    hidden["id"] = "hidden".into();
    hidden["internal"] = true.into();
    let table =
        Table::of([("own", of("You help Ada.")), ("hidden", hidden), ("secret", json!({ "id": "secret" }))]);
    table.set("bob", "own", of("You help Bob."));
    table.rows.lock().unwrap().get_mut(&("ada", "secret")).unwrap()["description"] = "Is Ada's.".into();
    let assistant = assistant_of(&model, catalog(table.clone()), &Told::default());

    for (user, prompt) in [("ada", "You help Ada."), ("bob", "You help Bob."), ("ada", "You help Ada.")] {
        assert_eq!(run(&assistant, user, "own").await.0, StatusCode::OK);
        assert_eq!(last_call(&model).0, prompt);
    }
    assert_eq!(run(&assistant, "ada", "secret").await.0, StatusCode::OK);
    let loads = table.loads();
    let unknown = run(&assistant, "bob", "nobody").await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND);
    assert!(unknown.1.contains("agent_not_found"), "{}", unknown.1);
    let long = "a".repeat(65);
    for name in ["secret", "a%2Fb", "..", "default", "stop", "%FF", &long] {
        assert_eq!(run(&assistant, "bob", name).await, unknown, "{name}");
    }
    // A malformed name is not asked for.
    assert_eq!(table.loads(), loads + 2);
    assert_eq!(run(&assistant, "ada", "hidden").await, unknown);
    let calls = model.payloads().len();
    let chat = json!({ "model": "omniassist/secret", "messages": [{ "role": "user", "content": "Hi" }] });
    let (status, _) = send(&assistant, "bob", Method::POST, "/v1/chat/completions", Some(&chat)).await;
    assert_eq!((status, model.payloads().len()), (StatusCode::NOT_FOUND, calls));
}

#[tokio::test]
async fn an_agent_of_the_builder_takes_precedence() {
    let model = answering();
    let table =
        Table::of([("sales", json!({ "id": "sales", "description": "Is data.", "prompt": "Data." }))]);
    let assistant = Assistant::builder(model.clone())
        .agent(Agent::new("sales", "Is code.").system_prompt("Code."))
        .agents(catalog(table.clone()))
        .build()
        .unwrap();
    assert_eq!(run(&assistant, "ada", "sales").await.0, StatusCode::OK);
    assert_eq!((last_call(&model).0, table.loads()), ("Code.".into(), 0));
    let listed = json!({ "agents": [{ "id": "sales", "description": "Is code." }] });
    assert_eq!(get(&assistant, "ada", "/agents").await, listed);
}

#[tokio::test]
async fn configurations_ask_each_other() {
    let lead = json!({ "id": "lead", "description": "Leads.", "delegates": ["clerk"] });
    let clerk =
        json!({ "id": "clerk", "description": "Looks up.", "prompt": "You look.", "delegates": ["lead"] });
    let task = |agent: &str| call(agent, json!({ "task": "Look" }));
    let model = ScriptedProvider::new().turn(task("clerk")).turn(task("lead"));
    let model = model.turn(text("Ask me no more.")).turn(text("Nothing.")).turn(text("Nothing there."));
    let assistant =
        assistant_of(&model, catalog(Table::of([("lead", lead), ("clerk", clerk)])), &Told::default());
    let (_, answer) = run(&assistant, "ada", "lead").await;
    assert!(answer.contains("Nothing there."), "{answer}");
    let prompts: Vec<_> = model.payloads().iter().map(|payload| payload.system.clone()).collect();
    assert_eq!(prompts[1].as_deref(), Some("You look."));
    assert_eq!(prompts.len(), 5);
}

#[tokio::test]
async fn code_reaches_a_loaded_agent() {
    let model = answering();
    let table =
        Table::of([("sales", json!({ "id": "sales", "description": "Sells.", "prompt": "You sell." }))]);
    let assistant = assistant_of(&model, catalog(table), &Told::default());
    let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
    let sales = assistant.agent_for("sales", &ada).await.unwrap().unwrap();
    assert_eq!(sales.run(RunRequest::prompt("Hi")).text().await.unwrap(), "Hello");
    assert_eq!(last_call(&model).0, "You sell.");
    assert_eq!(sales.as_agent().unwrap().1, "Sells.");
    assert!(assistant.agent_for("sales", &bob).await.unwrap().is_none());
    assert!(assistant.agent("sales").is_none());
}

#[tokio::test]
async fn a_graph_can_be_built_from_rows() {
    let rows = AgentConfig::graph(
        "sales",
        vec![
            Node::new("a", "agent", json!({ "description": "Sells.", "prompt": "You sell." })),
            Node::new("t", "tool", json!({ "name": "discount" })),
        ],
        vec![Edge::new("a", "t")],
    );
    let parsed = AgentConfig::from_json(
        r#"{"id": "sales", "version": "7", "name": "Sales", "description": "Sells.", "internal": true, "nodes": [
            {"id": "a", "type": "agent", "data": {"description": "Sells.", "prompt": "You sell."}},
            {"id": "t", "type": "tool", "data": {"name": "discount"}}
        ], "edges": [{"source": "a", "target": "t"}]}"#,
    )
    .unwrap();
    let rows = rows.with_version("7").with_name("Sales").with_description("Sells.").internal();
    assert_eq!(rows, parsed);
    assert_eq!((parsed.version(), parsed.name(), parsed.is_internal()), ("7", Some("Sales"), true));
}
