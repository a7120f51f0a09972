//! Host data reaches the tools in the framework's own way.

use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Extension, Principal, RunContext, State, Tool, ToolError};
use serde_json::{Value, json};

use crate::host::{Host, Region, User};
use crate::stage::{assistant, built, echo, run, stuck_after};
use crate::transport::Transport;
use crate::wire::Ask;

/// Returns a model that calls this tool, and then answers with text.
fn calling(tool: &'static str) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |payload| match payload.transcript.len() {
        1 => call(tool, json!({})),
        _ => text("Done."),
    })
}

async fn output(host: &Host, ask: Ask) -> Value {
    host.ask(&ask).await.whole().await.event("tool-output-available")["output"].clone()
}

#[derive(Clone)]
struct Shop(&'static str);

#[derive(Clone, Debug)]
struct Unheard;

fn asking_whose() -> Assistant {
    async fn whose(
        principal: Principal,
        user: Option<Extension<User>>,
        Extension(region): Extension<Region>,
        State(shop): State<Shop>,
    ) -> Result<String, ToolError> {
        let user = user.map_or_else(|| "nobody".to_owned(), |Extension(user)| user.0);
        Ok(format!("{principal} {user} {} {}", region.0, shop.0))
    }
    assistant(calling("whose")).state(Shop("books")).tool(Tool::new("whose", "Whose", whose)).build().unwrap()
}

pub(crate) async fn users_and_data_reach_tools(on: Transport) {
    let host = Host::start(on, &asking_whose()).await;
    assert_eq!(output(&host, run("/assistant").user("ann")).await, "ann ann north books");
}

pub(crate) async fn users_and_data_reach_tools_on_every_route(on: Transport) {
    let host = Host::start(on, &asking_whose()).await;
    for path in ["/assistant/ag-ui", "/assistant/copilotkit/agent/default/run"] {
        let asked = Ask::json(path, &crate::stage::ag_ui_input("t")).user("ann");
        let answer = host.ask(&asked).await.whole().await;
        assert!(answer.text().contains("ann ann north books"), "{}", answer.text());
    }
    let completion = Ask::json("/assistant/completion", &json!({ "prompt": "hi" })).user("ann");
    assert_eq!(output(&host, completion).await, "ann ann north books");
}

pub(crate) async fn requests_without_a_user_are_anonymous(on: Transport) {
    let host = Host::start(on, &asking_whose()).await;
    assert_eq!(output(&host, run("/assistant")).await, "anonymous nobody north books");
}

pub(crate) async fn missing_host_data_fails_the_tool(on: Transport) {
    async fn ask(Extension(_): Extension<Unheard>) -> Result<u32, ToolError> {
        Ok(1)
    }
    let assistant = assistant(calling("ask")).tool(Tool::new("ask", "Asks", ask)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let answer = host.ask(&run("/assistant")).await.whole().await;
    assert_eq!(answer.event("tool-output-error")["errorText"], "The tool failed.");
}

pub(crate) async fn users_reach_the_prompt(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|payload| text(payload.system.clone().unwrap()));
    let prompt = |run: &RunContext| format!("You speak to {}.", run.principal());
    let host = Host::start(on, &assistant(model).system_prompt(prompt).build().unwrap()).await;
    let answer = host.ask(&run("/assistant").user("ann")).await.whole().await;
    assert_eq!(answer.words(), "You speak to ann.");
}

pub(crate) async fn users_are_not_mixed_up(on: Transport) {
    let host = Host::start(on, &asking_whose()).await;
    let ask = |number: usize| {
        let (host, user) = (&host, format!("user-{number}"));
        async move {
            let found = output(host, run("/assistant").user(&user)).await;
            assert_eq!(found, format!("{user} {user} north books"));
        }
    };
    futures_util::future::join_all((0..24).map(ask)).await;
    // One connection may carry requests of several users.
    let mut connection = host.connect().await;
    for user in ["ann", "bob", "ann"] {
        let answer = connection.ask(&run("/assistant").user(user)).await.whole().await;
        let found = answer.event("tool-output-available")["output"].clone();
        assert_eq!(found, format!("{user} {user} north books"));
    }
}

/// Chats of two users with the same id are two chats.
pub(crate) async fn chats_of_two_users_are_separate(on: Transport) {
    let host = Host::start(on, &built(stuck_after("so far"))).await;
    let mut of_ann = host.ask(&run("/assistant").user("ann")).await;
    let mut of_bob = host.ask(&run("/assistant").user("bob")).await;
    of_ann.until("so far").await;
    of_bob.until("so far").await;
    let stop = |user: &str| Ask::json("/assistant/c/stop", &json!({})).user(user);
    assert_eq!(host.ask(&stop("eve")).await.whole().await.json()["stopped"], false);
    assert_eq!(host.ask(&stop("bob")).await.whole().await.json()["stopped"], true);
    assert!(of_bob.whole().await.text().contains("\"abort\""));
    assert_eq!(host.ask(&stop("ann")).await.whole().await.json()["stopped"], true);
    assert!(of_ann.whole().await.text().contains("\"abort\""));
}

pub(crate) async fn the_backends_own_routes_are_unchanged(on: Transport) {
    let host = Host::start(on, &built(echo())).await;
    let health = host.ask(&Ask::get("/health")).await.whole().await;
    assert_eq!((health.status(), health.text()), (200, crate::host::HEALTH));
    let nowhere = host.ask(&Ask::get("/nowhere")).await.whole().await;
    assert_eq!((nowhere.status(), nowhere.text()), (404, crate::host::NOWHERE));
    assert_eq!(host.ask(&Ask::get("/")).await.whole().await.text(), crate::host::NOWHERE);
}
