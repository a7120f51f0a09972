//! Calls that wait for the user of a tree: forms and approvals, at the root, below it, and on another server.

use std::sync::atomic::Ordering;

use omniassist_server::agents::Explore;
use omniassist_server::core::run::ClientAbilities;
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{ConversationStore, MemoryStore, RunStore};
use omniassist_server::testing::call;
use omniassist_server::tool::Approval;
use omniassist_server::{Agent, Principal, Tool};

use super::stored::tree;
use super::*;
use crate::approvals::refund;
use crate::asking_user::book;

/// Returns a model whose work is one call, and then the text of its result.
fn calls(tool: &'static str, arguments: Value) -> ScriptedProvider {
    model(move |step, _, payload| match (step, payload.transcript.last()) {
        (Call::Work, Some(TranscriptItem::Result(result))) => {
            Some(text(format!("Told: {}", result.output.as_str())))
        }
        (Call::Work, _) => Some(call(tool, arguments.clone())),
        _ => None,
    })
}

fn quiet(model: &ScriptedProvider, tool: Tool) -> AssistantBuilder {
    builder(model).tool(tool).explore(Explore::new().asks(false))
}

async fn open(assistant: &Assistant, path: &str, user: &str) -> Client {
    let offer = request(path).header("sec-websocket-protocol", "omniassist.agents.v1");
    Client::with(assistant, offer.extension(Principal::new(user))).await.expect("an upgrade")
}

fn response(asked: &Value, rest: &Value) -> Value {
    let mut frame =
        json!({ "type": "call-response", "agentId": asked["agentId"], "queryId": asked["queryId"] });
    frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    frame
}

/// Sends an answer that is refused. Returns the text of the error.
async fn refused(client: &mut Client, frame: &Value) -> String {
    client.send(frame).await;
    let error = client.until("error").await.pop().unwrap();
    assert_eq!(error["code"], "invalid_request");
    error["error"].as_str().unwrap().to_owned()
}

/// Returns the answer of the root.
async fn result(client: &mut Client) -> Value {
    client.until("agent-completed").await.pop().unwrap()["result"].take()
}

#[tokio::test]
async fn a_tool_asks_the_user_of_a_tree_twice() {
    let (tool, held) = book();
    let model = calls("book", json!({}));
    let assistant = quiet(&model, tool).build().unwrap();
    let mut client = open(&assistant, "/ws", "ada").await;
    client.start("Book").await;
    let mut frames = client.until("user-query").await;
    let asked = frames.pop().unwrap();
    let call = &asked["call"];
    assert_eq!((&asked["prompt"], &call["toolName"]), (&json!("How many seats?"), &json!("request_input")));
    assert_eq!((&call["schema"]["required"], call.get("input")), (&json!(["seats"]), None));
    assert!(call["expiresAt"].as_u64().unwrap() > 1_700_000_000_000, "{call}");
    let state = &frames.last().unwrap()["state"];
    let query = &state["queries"][0];
    assert_eq!(
        (&state["status"], &query["call"], &query["queryId"]),
        (&json!("waiting-for-user"), call, &asked["queryId"])
    );

    // What does not fit is refused, and the question stays open.
    let yes = json!({ "approved": true, "output": { "seats": 2 } });
    for (frame, says) in [
        (response(&asked, &json!({ "approved": true })), "`output`: expected the values of the form"),
        (
            response(&asked, &json!({ "approved": true, "output": { "seats": "x" } })),
            "`output`: expected values that fit",
        ),
        (
            response(&asked, &json!({ "approved": true, "output": { "seats": 1 }, "arguments": {} })),
            "`arguments`",
        ),
        (
            response(&json!({ "agentId": asked["agentId"], "queryId": "forged" }), &yes),
            "`queryId`: expected the id of an open",
        ),
        (response(&json!({ "agentId": "forged", "queryId": asked["queryId"] }), &yes), "`queryId`"),
        (response(&asked, &json!({ "output": { "seats": 2 } })), "approved"),
    ] {
        let error = refused(&mut client, &frame).await;
        assert!(error.contains(says), "{frame}: {error}");
    }
    client.send(&response(&asked, &yes)).await;
    let second = client.until("user-query").await.pop().unwrap();
    assert_eq!(second["prompt"], "How many bags?");
    // A question takes one answer.
    assert!(refused(&mut client, &response(&asked, &yes)).await.contains("`queryId`"));
    client.send(&response(&second, &json!({ "approved": true, "output": { "bags": 3 } }))).await;
    let frames = client.until("agent-completed").await;
    assert_eq!(frames.last().unwrap()["result"], r#"Told: "2 seats, 3 bags.""#);
    assert_eq!(held.load(Ordering::SeqCst), 1, "the effect before the first form is not repeated");
    assert!(frames.iter().all(|frame| {
        frame["state"].get("queries").is_none_or(|open| open[0]["queryId"] != asked["queryId"])
    }));
    assert!(refused(&mut client, &response(&second, &yes)).await.contains("`queryId`"));
    assert_eq!(model.payloads().iter().filter(|payload| call_of(payload) == Call::Work).count(), 2);
}

#[tokio::test]
async fn a_user_declines_a_form_of_a_tree() {
    let assistant = quiet(&calls("book", json!({})), book().0).build().unwrap();
    let mut client = open(&assistant, "/ws", "ada").await;
    client.start("Book").await;
    let asked = client.until("user-query").await.pop().unwrap();
    client.send(&response(&asked, &json!({ "approved": false, "reason": "no time" }))).await;
    assert_eq!(result(&mut client).await, r#"Told: "Nothing.""#);
}

#[tokio::test]
async fn an_approval_decides_about_a_call_of_a_tree() {
    for (answer, told, runs) in [
        (json!({ "approved": true }), "refunded 7", 1),
        (json!({ "approved": true, "arguments": { "cents": 5 } }), "refunded 5", 1),
        (json!({ "approved": false, "reason": "too much" }), "too much", 0),
    ] {
        let (tool, ran) = refund(Approval::always().message("Give it back?").editable());
        let assistant = quiet(&calls("refund", json!({ "cents": 7 })), tool).build().unwrap();
        let mut client = open(&assistant, "/ws", "ada").await;
        client.start("Refund").await;
        let asked = client.until("user-query").await.pop().unwrap();
        assert_eq!(
            (&asked["prompt"], &asked["call"]["input"]),
            (&json!("Give it back?"), &json!({ "cents": 7 }))
        );
        assert_eq!(asked["call"]["editable"], true);
        assert_eq!(ran.load(Ordering::SeqCst), 0, "it waits");
        client.send(&response(&asked, &answer)).await;
        let frames = client.until("agent-completed").await;
        let result = &frames.last().unwrap()["result"];
        assert!(result.as_str().unwrap().contains(told), "{result}");
        assert_eq!(ran.load(Ordering::SeqCst), runs);
        // The state has the result of the call after the call, and before the answer.
        let mut states = frames.iter().filter(|frame| frame["type"] == "agent-state");
        let messages = states.next_back().unwrap()["state"]["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
        assert!(messages[2]["content"][0]["result"].as_str().unwrap().contains(told), "{messages:?}");
    }
}

#[tokio::test]
async fn arguments_are_edited_only_where_it_is_allowed() {
    let (tool, ran) = refund(Approval::always());
    let assistant = quiet(&calls("refund", json!({ "cents": 7 })), tool).build().unwrap();
    let mut client = open(&assistant, "/ws", "ada").await;
    client.start("Refund").await;
    let asked = client.until("user-query").await.pop().unwrap();
    let edited = response(&asked, &json!({ "approved": true, "arguments": { "cents": 1_000_000 } }));
    assert!(refused(&mut client, &edited).await.contains("`arguments`"));
    client.send(&response(&asked, &json!({ "approved": true }))).await;
    assert!(result(&mut client).await.as_str().unwrap().contains("refunded 7"));
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn clients_of_the_plain_protocol_are_asked_about_no_call() {
    let (tool, ran) = refund(Approval::always());
    let assistant = quiet(&calls("refund", json!({ "cents": 7 })), tool).build().unwrap();
    let mut client = Client::open(&assistant).await;
    client.start("Refund").await;
    let frames = client.until("agent-completed").await;
    assert!(frames.iter().all(|frame| frame["type"] != "user-query"), "{frames:?}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

/// The call belongs to the agent of a part, and to one that its tool has asked.
#[tokio::test]
async fn agents_below_ask_the_user_too() {
    let (tool, ran) = refund(Approval::always());
    let model = ScriptedProvider::new().otherwise(|payload| {
        let last = payload.transcript.last();
        if let Some(TranscriptItem::Result(result)) = last {
            return text(format!("Told: {}", result.output.as_str()));
        }
        match (prompt(payload).as_str(), payload.options.response_schema.is_some()) {
            ("Pay", _) => call("refund", json!({ "cents": 7 })),
            (asked, true) if asked.contains("Compare") && asked.contains("independent parts") => {
                questions(&["Part?"])
            }
            (_, true) => text(r#"{"questions": []}"#),
            (asked, _) if asked.contains("Part?") && asked.starts_with("Work on") => {
                call("payer", json!({ "task": "Pay" }))
            }
            _ => text("Done."),
        }
    });
    let payer = Agent::new("payer", "Pays.").tool(tool);
    let assistant = builder(&model)
        .explore(Explore::new().asks(false))
        .agent(payer)
        .delegates(["payer"])
        .build()
        .unwrap();
    let mut client = open(&assistant, "/ws", "ada").await;
    client.start("Compare").await;
    let mut frames = client.until("user-query").await;
    let asked = frames.pop().unwrap();
    let mut states = frames.iter().filter(|frame| frame["type"] == "agent-state");
    let begun =
        states.clone().find(|frame| frame["agentId"] == asked["agentId"]).expect("the agent that asks");
    assert_eq!(begun["state"]["userContent"], "Part?");
    let below = states.rfind(|frame| frame["state"]["parentId"] == asked["agentId"]).unwrap();
    assert_eq!(
        (&below["state"]["metadata"]["name"], &below["state"]["status"]),
        (&json!("payer"), &json!("waiting-for-user"))
    );
    client.send(&response(&asked, &json!({ "approved": true }))).await;
    let frames = client.until("agent-completed").await;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let is_end =
        |frame: &&Value| frame["agentId"] == below["agentId"] && frame["state"]["status"] == "completed";
    let ended = frames.iter().find(is_end).expect("the end of the asked agent");
    assert!(ended["state"]["result"].as_str().unwrap().contains("refunded 7"), "{ended}");
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_expires() {
    let (tool, ran) = refund(Approval::always());
    let program = Explore::new().asks(false).answer_timeout(Duration::from_secs(60));
    let assistant = quiet(&calls("refund", json!({ "cents": 7 })), tool).explore(program).build().unwrap();
    let mut client = open(&assistant, "/ws", "ada").await;
    client.start("Refund").await;
    let asked = client.until("user-query").await.pop().unwrap();
    let began = tokio::time::Instant::now();
    let result = result(&mut client).await;
    assert_eq!(began.elapsed().as_secs(), 60);
    assert!(result.as_str().unwrap().contains("The user did not answer in time."), "{result}");
    let late = response(&asked, &json!({ "approved": true }));
    assert!(refused(&mut client, &late).await.contains("`queryId`"));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_agent_that_waits_for_an_approval_is_cancelled_or_answers_now() {
    for status in ["cancelled", "completed"] {
        let (tool, ran) = refund(Approval::always());
        let assistant = quiet(&calls("refund", json!({ "cents": 7 })), tool).build().unwrap();
        let mut client = open(&assistant, "/ws", "ada").await;
        client.start("Refund").await;
        let asked = client.until("user-query").await.pop().unwrap();
        client
            .send(&json!({ "type": "user-intervention", "agentId": asked["agentId"], "status": status }))
            .await;
        let is_end = |frame: &Value| frame["state"]["status"] == status;
        let ended = client.until_one(is_end).await.pop().unwrap();
        assert_eq!(ended["state"].get("queries"), None);
        let late = response(&asked, &json!({ "approved": true }));
        assert!(refused(&mut client, &late).await.contains("`queryId`"));
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }
}

async fn another_server_answers<S: RunStore + ConversationStore + Clone>(store: S) {
    let (tool, ran) = refund(Approval::always());
    let model = calls("refund", json!({ "cents": 7 }));
    let server = |model: &ScriptedProvider| quiet(model, tool.clone()).store(store.clone()).build().unwrap();
    let (owner, other) = (server(&model), server(&ScriptedProvider::new()));
    let mut client = open(&owner, "/ws?chat=c", "ada").await;
    client.start("Refund").await;
    let asked = client.until("user-query").await.pop().unwrap();
    let approved = response(&asked, &json!({ "approved": true }));
    // The journal has a change of status within 100 ms.
    tokio::time::sleep(Duration::from_millis(250)).await;

    let mut foreign = open(&other, "/ws?chat=c", "bob").await;
    assert!(refused(&mut foreign, &approved).await.contains("`queryId`"));
    let mut elsewhere = open(&other, "/ws?chat=c", "ada").await;
    let shown: Value = serde_json::from_str(&tree(&mut elsewhere).await[0]).unwrap();
    assert_eq!(shown["state"]["queries"][0]["call"], asked["call"]);
    let forged =
        response(&json!({ "agentId": asked["agentId"], "queryId": "forged" }), &json!({ "approved": true }));
    assert!(refused(&mut elsewhere, &forged).await.contains("`queryId`"));
    let unfit = response(&asked, &json!({ "approved": true, "output": {} }));
    assert!(refused(&mut elsewhere, &unfit).await.contains("`output`"));
    assert_eq!(ran.load(Ordering::SeqCst), 0);

    let answered = tokio::time::Instant::now();
    elsewhere.send(&approved).await;
    assert!(refused(&mut elsewhere, &approved).await.contains("`queryId`"), "a question takes one answer");
    assert!(result(&mut client).await.as_str().unwrap().contains("refunded 7"));
    assert!(answered.elapsed() < Duration::from_secs(2), "{:?}", answered.elapsed());
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assert!(refused(&mut elsewhere, &approved).await.contains("`queryId`"), "the tree has ended");
}

#[tokio::test(start_paused = true)]
async fn a5_31_another_server_answers_a_question() {
    another_server_answers(MemoryStore::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a5_31_another_server_answers_a_question_of_an_encrypted_chat() {
    let keys = EncryptionKeys::new("1", "at least thirty-two bytes of randomness").unwrap();
    another_server_answers(Encrypted::new(MemoryStore::new(), keys)).await;
}

#[tokio::test]
async fn another_connection_to_the_same_server_answers() {
    let (tool, ran) = refund(Approval::always());
    let assistant =
        quiet(&calls("refund", json!({ "cents": 7 })), tool).store(MemoryStore::new()).build().unwrap();
    let mut client = open(&assistant, "/ws?chat=c", "ada").await;
    client.start("Refund").await;
    let asked = client.until("user-query").await.pop().unwrap();
    tokio::time::sleep(Duration::from_millis(250)).await;
    let mut second = open(&assistant, "/ws?chat=c", "ada").await;
    second.send(&response(&asked, &json!({ "approved": true }))).await;
    assert!(result(&mut client).await.as_str().unwrap().contains("refunded 7"));
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_session_in_process_answers_a_call() {
    use omniassist_server::agents::{AgentSession, CallResponse};
    use omniassist_server::core::JsonText;

    let assistant = quiet(&calls("book", json!({})), book().0).build().unwrap();
    let session = AgentSession::new(assistant).abilities(ClientAbilities::default());
    let mut stream = session.agent("Book");
    let mut counts = [json!({ "seats": 2 }), json!({ "bags": 3 })].into_iter();
    let mut result = None;
    while let Some(frame) = stream.next().await {
        match frame {
            ServerFrame::UserQuery { agent_id, query_id, .. } => {
                let values = JsonText::from_value(&counts.next().unwrap());
                let answer = CallResponse::approved(agent_id, query_id.unwrap()).output(values);
                session.call_response(answer).await.unwrap();
            }
            ServerFrame::AgentCompleted { result: answer, .. } => result = answer,
            _ => {}
        }
    }
    assert_eq!(result.unwrap(), r#"Told: "2 seats, 3 bags.""#);
}
