//! Tests of a model that is silent for a long time. Proxies must not close the connection as idle.

use std::time::Duration;

use http::StatusCode;
use omniassist_server::Assistant;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use tokio::time::Instant;

use crate::dialects::{ROUTES, Shape, note, read};

#[tokio::test(start_paused = true)]
async fn every_stream_is_open_after_the_keep_alive_time_with_comments_if_the_format_has_them() {
    for route in ROUTES {
        let model = ScriptedProvider::new()
            .turn(Turn::delay(Duration::from_secs(40)).then(text("{\"text\":\"late\"}")));
        let service = AssistantService::new(
            Assistant::builder(model).allow_anonymous().object(note()).build().unwrap(),
        );
        let started = Instant::now();
        let response = route.ask(&service).await;
        assert_eq!(response.status(), StatusCode::OK);
        let opened = started.elapsed().as_secs();
        if route.shape == Shape::OpenAiWhole {
            assert_eq!(opened, 40, "an answer that is not streamed sends nothing before its end");
            continue;
        }
        assert!(opened <= 15, "{route:?}: {opened} s until the response begins");
        let body = read(response.into_body()).await;
        let kept = body.matches(": keep-alive\n\n").count();
        let takes_comments = !matches!(route.shape, Shape::Text | Shape::Ndjson);
        assert_eq!(kept, if takes_comments { 2 } else { 0 }, "{route:?} {body}");
        assert!(body.contains("late"));
        assert_eq!(started.elapsed().as_secs(), 40);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_a_tool_is_kept_open_too() {
    let tool = omniassist_server::Tool::new("slow", "Is slow", async || {
        tokio::time::sleep(Duration::from_secs(50)).await;
        Ok::<_, omniassist_server::ToolError>("done")
    });
    let model = ScriptedProvider::new()
        .turn(omniassist_server::testing::call("slow", serde_json::json!({})))
        .turn(text("late"));
    let service =
        AssistantService::new(Assistant::builder(model).allow_anonymous().tool(tool).build().unwrap());
    let body = read(ROUTES[0].ask(&service).await.into_body()).await;
    assert_eq!(body.matches(": keep-alive\n\n").count(), 3, "{body}");
    assert!(body.contains("late"));
}
