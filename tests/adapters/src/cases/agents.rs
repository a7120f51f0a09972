//! Named agents, and agents that others ask.

use omniassist_server::Agent;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use serde_json::json;

use crate::host::Host;
use crate::stage::{ag_ui_input, assistant, chat_request, left, run, says};
use crate::transport::Transport;
use crate::wire::{Ask, soon};

pub(crate) async fn an_agent_answers_below_both_of_its_paths(on: Transport) {
    let sales = Agent::new("sales", "Sells lamps.").provider(says("Sold."));
    let host = Host::start(on, &assistant(says("Hello")).agent(sales).build().unwrap()).await;
    let ask = async |ask: Ask| host.ask(&ask).await.whole().await;
    for path in ["/assistant/agents/sales", "/assistant/api/run/sales", "/assistant/agents/s%61les/"] {
        assert_eq!(ask(run(path)).await.words(), "Sold.", "{path}");
    }
    let ag_ui = ask(Ask::json("/assistant/agents/sales/ag-ui", &ag_ui_input("t"))).await;
    assert!(ag_ui.text().contains("Sold."), "{}", ag_ui.text());
    let chat = ask(Ask::json("/assistant/agents/sales/v1/chat/completions", &chat_request(false))).await;
    assert_eq!(chat.json()["choices"][0]["message"]["content"], "Sold.");
    let listed = ask(Ask::get("/assistant/agents")).await.json();
    assert_eq!(listed, json!({ "agents": [{ "id": "sales", "description": "Sells lamps." }] }));
    let unknown = ask(run("/assistant/api/run/nobody")).await;
    assert_eq!((unknown.status(), &unknown.json()["error"]["code"]), (404, &json!("agent_not_found")));
    assert_eq!(ask(Ask::get("/assistant/agents/sales")).await.status(), 405);
}

pub(crate) async fn an_asked_agent_ends_with_its_client(on: Transport) {
    let asked = ScriptedProvider::new().otherwise(|_| Turn::text("Working").then(Turn::pending()));
    let parent = ScriptedProvider::new().otherwise(|payload| match payload.tools.is_empty() {
        true => text("Nobody to ask."),
        false => call("worker", json!({ "task": "Work" })),
    });
    let worker = Agent::new("worker", "Works.").provider(asked.clone());
    let builder = assistant(parent).agent(worker).delegates(["worker"]).limits(left(on));
    let host = Host::start(on, &builder.build().unwrap()).await;
    let mut answer = host.ask(&run("/assistant")).await;
    answer.until("data-agent-delta").await;
    drop(answer);
    soon("the model of the agent is left", asked.dropped()).await;
}
