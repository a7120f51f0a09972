use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_axum::agents::{AgentSession, ServerFrame, Status};
use omniassist_axum::core::{RunRequest, ToolChoice, TranscriptItem};
use omniassist_axum::testing::{ScriptedProvider, Turn};
use serde_json::json;

use crate::assistant;
use crate::demo::Demo;

#[tokio::test(start_paused = true)]
async fn the_demo_asks_divides_and_summarises() {
    let assistant = assistant(Arc::new(Demo { pace: Duration::from_millis(40) }), None).unwrap();
    let session = AgentSession::new(assistant);
    let mut stream = session.agent("Compare lamps and candles");
    let mut asked = 0;
    let mut last = None;
    while let Some(frame) = stream.next().await {
        if let ServerFrame::UserQuery { agent_id, .. } = &frame {
            asked += 1;
            session.user_response(agent_id, "The price").unwrap();
        }
        last = Some(frame);
    }
    assert!(matches!(last, Some(ServerFrame::AgentCompleted { .. })), "{last:?}");
    assert_eq!(asked, 1);
    let tree = session.get_agent_tree();
    let tasks: Vec<_> = tree.iter().map(|state| (&*state.user_content, state.status)).collect();
    let done = Status::Completed;
    assert_eq!(
        tasks,
        [
            ("Compare lamps and candles", done),
            ("What speaks for lamps?", done),
            ("What speaks for candles?", done)
        ]
    );
    let answer = tree[0].result.as_deref().unwrap();
    assert!(answer.starts_with("In short") && answer.matches("\n- ").count() == 2, "{answer}");
}

#[tokio::test]
async fn the_editor_asks_two_researchers_before_it_answers() {
    let model = ScriptedProvider::new()
        .turn(Turn::call("compare", json!({"first": "lamps", "second": "candles"})))
        .otherwise(|payload| {
            Turn::text(if payload.tools.is_empty() { "Light." } else { "Both give light." })
        });
    let assistant = assistant(Arc::new(model.clone()), None).unwrap();
    let editor = assistant.agent("editor").unwrap();
    let answer = editor.run(RunRequest::prompt("Compare lamps and candles")).text().await.unwrap();
    assert_eq!(answer, "Both give light.");
    let payloads = model.payloads();
    let choices: Vec<_> = payloads.iter().map(|payload| &payload.tool_choice).collect();
    assert_eq!(choices, [&ToolChoice::Required, &ToolChoice::Auto, &ToolChoice::Auto, &ToolChoice::Auto]);
    let Some(TranscriptItem::Result(result)) = payloads[3].transcript.last() else { panic!("{payloads:?}") };
    assert_eq!(result.output.to_value(), "lamps: Light.\ncandles: Light.");
}
