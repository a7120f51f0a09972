use omniassist_mcp::Expose;
use omniassist_server::tool::{Tool, ToolError};
use omniassist_server::{Agent, RunContext};
use serde_json::{Value, json};

use super::host::{Ran, builder, echo_tool, refund_tool, serve, serve_as};

async fn nothing() -> Result<(), ToolError> {
    Ok(())
}

fn is_ann(caller: &RunContext) -> bool {
    caller.principal().id() == "ann"
}

#[tokio::test]
async fn each_principal_sees_its_own_tools() {
    let builder = builder(&Ran::default()).tool(echo_tool()).tool(refund_tool().visible_to(is_ann));
    let client = serve(builder).await;
    assert_eq!(client.tools().await, ["echo", "refund"]);
    assert_eq!(client.of("bob").tools().await, ["echo"]);
}

#[tokio::test]
async fn only_tools_of_the_server_are_listed() {
    let front_end = Tool::front_end_with_schema("open_page", "Opens a page", json!({ "type": "object" }));
    let builder = builder(&Ran::default())
        .tool(echo_tool())
        .tool(front_end)
        .tool(Tool::request_input())
        .agent(Agent::new("sales", "Sells."))
        .handoffs(["sales"])
        .defer_tools_above(0);
    let client = serve(builder).await;
    assert_eq!(client.tools().await, ["echo"]);
    for name in ["open_page", "request_input", "transfer_to_sales", "tool_search", "ask_sales"] {
        let answer = client.call(name, json!({})).await;
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
    }
}

#[tokio::test]
async fn a_tool_is_listed_as_it_is() {
    let tool = Tool::new("stock", "Counts the stock", nothing).title("Stock").read_only();
    let client = serve(builder(&Ran::default()).tool(tool).tool(refund_tool().idempotent())).await;
    for list in
        [client.send("tools/list", json!({})).await, client.send_legacy("tools/list", json!({})).await]
    {
        let result = &list["result"];
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("private")));
        let (refund, stock) = (&result["tools"][0], &result["tools"][1]);
        assert_eq!(stock["title"], "Stock");
        assert_eq!(stock["description"], "Counts the stock");
        assert_eq!(stock["annotations"], json!({ "readOnlyHint": true }));
        assert_eq!(refund["annotations"], json!({ "readOnlyHint": false }));
        assert_eq!(refund["inputSchema"]["properties"]["cents"]["type"], "integer");
        assert_eq!(refund["inputSchema"]["required"], json!(["cents"]));
    }
}

#[tokio::test]
async fn pages_hold_as_many_tools_as_set() {
    let numbered = |number: usize| Tool::new(format!("tool_{number}"), "Does nothing", nothing);
    let tools = |count: usize| (0..count).fold(builder(&Ran::default()), |all, n| all.tool(numbered(n)));
    let whole = serve_as(tools(3), Expose::tools().page_size(3)).await.send("tools/list", json!({})).await;
    assert_eq!(whole["result"]["tools"].as_array().unwrap().len(), 3);
    assert_eq!(whole["result"]["nextCursor"], Value::Null);

    let client = serve_as(tools(4), Expose::tools().page_size(3)).await;
    let first = client.send("tools/list", json!({})).await;
    assert_eq!(first["result"]["tools"].as_array().unwrap().len(), 3);
    let rest = client.send("tools/list", json!({ "cursor": first["result"]["nextCursor"] })).await;
    assert_eq!(rest["result"]["tools"][0]["name"], "tool_3");
    assert_eq!(rest["result"]["nextCursor"], Value::Null);
    for unknown in ["", "tool_9", "zzz"] {
        let refused = client.send("tools/list", json!({ "cursor": unknown })).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn agents_are_listed_if_they_are_exposed_and_visible() {
    let builder = builder(&Ran::default())
        .agent(Agent::new("sales", "Sells.").visible_to(is_ann))
        .agent(Agent::new("secret", "Knows.").internal())
        .agent(Agent::new("other", "Is not exposed."));
    let client = serve_as(builder, Expose::tools().and_agent("sales").and_agent("secret")).await;
    assert_eq!(client.tools().await, ["ask_sales"]);
    assert!(client.of("bob").tools().await.is_empty());
    let unknown = client.of("bob").call("ask_nobody", json!({ "message": "hi" })).await;
    for name in ["ask_sales", "ask_secret", "ask_other"] {
        assert_eq!(client.of("bob").call(name, json!({ "message": "hi" })).await, unknown);
    }
}

#[tokio::test]
async fn the_server_tells_its_name_in_both_eras() {
    let expose = || Expose::tools().named("acme-desk").version("7").instructions("Be brief.");
    let client = serve_as(builder(&Ran::default()), expose()).await;
    let discovered = client.send("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["instructions"], "Be brief.");
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {} }));
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")),
        "{versions:?}"
    );
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    });
    let initialized = client.send_legacy("initialize", params).await;
    assert_eq!(initialized["result"]["serverInfo"], json!({ "name": "acme-desk", "version": "7" }));
    assert_eq!(initialized["result"]["protocolVersion"], "2025-11-25");
}
