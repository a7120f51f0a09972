//! Tests of configurations that no agent can be made of.

use omniassist_server::agent_config::AgentConfigError;

use super::*;

/// Returns a graph of an agent with these further nodes and edges.
fn with(nodes: &Value, edges: &Value) -> Value {
    let mut all = vec![json!({ "id": "a", "type": "agent", "data": {} })];
    all.extend(nodes.as_array().unwrap().iter().cloned());
    json!({ "id": "sales", "description": "Sells.", "nodes": all, "edges": edges })
}

fn short(more: &Value) -> Value {
    let mut config = json!({ "id": "sales", "description": "Sells." });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

fn agent(id: &str, data: impl Into<Value>) -> Value {
    json!({ "id": id, "type": "agent", "data": data.into() })
}

/// Loads the agent, and returns what observers are told.
async fn refused(config: Value) -> String {
    let (model, told) = (answering(), Told::default());
    let extra = json!({ "id": "other", "description": "Is another one." });
    let assistant = Assistant::builder(model.clone())
        .tool(tool("help"))
        .agent(Agent::new("clerk", "Looks things up."))
        .agents(catalog(Table::of([("sales", config), ("other", extra)])).provider("small", answering()))
        .observe(told.clone())
        .build()
        .unwrap();
    let (status, body) = run(&assistant, "ada", "sales").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    assert!(
        body.contains("agent_invalid") && body.contains("the configuration of the agent is invalid"),
        "{body}"
    );
    assert!(!body.contains("sales"), "{body}");
    assert!(model.payloads().is_empty());
    told.only()
}

#[tokio::test]
async fn what_does_not_fit_is_named_by_its_path() {
    let node = |data: Value| json!([agent("b", data)]);
    let edge = json!([{ "source": "a", "target": "b" }]);
    let tool_node = json!([{ "id": "t", "type": "tool", "data": { "name": "discount" } }]);
    let to_tool = json!([{ "source": "a", "target": "t" }]);
    let of_type = |kind: &str| with(&json!([{ "id": "b", "type": kind, "data": {} }]), &json!([]));
    let helper = json!({ "name": "helper", "description": "Helps." });
    let cases = [
        // The short form.
        (
            short(&json!({ "tools": ["discount", "discont"] })),
            "tools[1]",
            "no tool \"discont\"; there are: count, discount",
        ),
        (short(&json!({ "tools": ["help"] })), "tools[0]", "no tool \"help\""),
        (short(&json!({ "tools": ["count", "count"] })), "tools[1]", "taken"),
        (short(&json!({ "tools": "count" })), "tools", "invalid type"),
        (short(&json!({ "tools": [7] })), "tools[0]", "invalid type"),
        (short(&json!({ "provider": "large" })), "provider", "no provider \"large\"; there are: small"),
        (
            short(&json!({ "delegates": ["nobody"] })),
            "delegates[0]",
            "no agent \"nobody\"; there are: clerk, other, sales",
        ),
        (short(&json!({ "delegates": ["a/b"] })), "delegates[0]", "no agent \"a/b\""),
        (
            short(&json!({ "delegates": ["other", "count"], "tools": ["count"] })),
            "delegates[1]",
            "no agent \"count\"",
        ),
        (
            short(&json!({ "handoffs": ["clerk", "nobody"] })),
            "handoffs[1]",
            "no agent \"nobody\"; there are: clerk",
        ),
        (short(&json!({ "ref": "clerk" })), "ref", "no meaning"),
        (short(&json!({ "prompt": "For {{ship}}." })), "prompt", "no placeholder \"ship\"; there are: shop"),
        (short(&json!({ "prompt": "For {{shop." })), "prompt", "has no `}}`"),
        (short(&json!({ "max_steps": 3 })), "max_steps", "write \"maxSteps\""),
        (
            short(&json!({ "promt": "You sell." })),
            "promt",
            "no meaning here; there are: id, version, name, description, internal, prompt, model, provider, maxSteps, budget, \
             tools, delegates, handoffs",
        ),
        (short(&json!({ "maxSteps": 0 })), "maxSteps", "nonzero"),
        (short(&json!({ "maxSteps": -1 })), "maxSteps", "invalid value"),
        (short(&json!({ "budget": { "tokens": 0 } })), "budget.tokens", "nonzero"),
        (short(&json!({ "budget": { "modelCalls": 0 } })), "budget.modelCalls", "nonzero"),
        (short(&json!({ "budget": { "seconds": 0 } })), "budget.seconds", "nonzero"),
        (short(&json!({ "budget": { "cost": 5 } })), "budget.cost", "unknown field"),
        (short(&json!({ "version": 1.5 })), "version", "whole number"),
        (json!({ "id": "sales" }), "description", "is missing"),
        (json!({ "id": "sales", "description": " " }), "description", "empty"),
        (json!({ "id": "marketing", "description": "Sells." }), "id", "\"sales\" has another id"),
        (json!([1]), "", "invalid type"),
        // The graph.
        (
            with(&node(json!({ "tools": ["discont"], "description": "B." })), &edge),
            "nodes[1].data.tools[0]",
            "discont",
        ),
        (with(&node(json!({ "maxSteps": 0 })), &edge), "nodes[1].data.maxSteps", "nonzero"),
        (with(&node(json!({ "MaxSteps": 3 })), &edge), "nodes[1].data.MaxSteps", "write \"maxSteps\""),
        (with(&node(json!({ "budget": { "tokens": 0 } })), &edge), "nodes[1].data.budget.tokens", "nonzero"),
        (
            with(&node(json!({ "prompt": "{{x}}" , "description": "B." })), &edge),
            "nodes[1].data.prompt",
            "placeholder",
        ),
        (
            with(&node(json!({ "provider": "x", "description": "B." })), &edge),
            "nodes[1].data.provider",
            "no provider",
        ),
        (with(&node(json!({})), &edge), "nodes[1].data.description", "empty"),
        (with(&node(json!({ "name": "a b", "description": "B." })), &edge), "nodes[1].data.name", "1 to 64"),
        (with(&node(json!({ "name": "stop", "description": "B." })), &edge), "nodes[1].data.name", "stop"),
        (with(&node(json!({ "name": "sales", "description": "B." })), &edge), "nodes[1].data.name", "taken"),
        (with(&node(json!({ "name": "clerk", "description": "B." })), &edge), "nodes[1].data.name", "taken"),
        (
            with(
                &json!([agent("b/c", json!({ "description": "B." }))]),
                &json!([{ "source": "a", "target": "b/c" }]),
            ),
            "nodes[1].id",
            "1 to 64",
        ),
        (with(&node(json!({ "ref": "nobody" })), &edge), "edges[0].target", "no agent \"nobody\""),
        (with(&json!([{ "id": "t", "type": "tool" }]), &to_tool), "nodes[1].data", "missing field `name`"),
        (
            with(&json!([{ "id": "t", "type": "tool", "data": { "name": "discont" } }]), &to_tool),
            "edges[0].target",
            "discont",
        ),
        (with(&json!([{ "id": "b" }]), &json!([])), "nodes[1]", "missing field `type`"),
        (with(&json!([agent("a", json!({}))]), &json!([])), "nodes[1].id", "taken"),
        (with(&json!([agent("b", json!({}))]), &json!([])), "nodes", "no single agent"),
        (
            with(
                &json!([agent("b", helper.clone())]),
                &json!([{ "source": "a", "target": "b" }, { "source": "b", "target": "a" }]),
            ),
            "nodes",
            "no single agent",
        ),
        (json!({ "id": "sales", "description": "Sells.", "nodes": [] }), "nodes", "no single agent"),
        (json!({ "id": "sales", "description": "Sells.", "edges": [] }), "", "missing field `nodes`"),
        (of_type("http"), "nodes[1].type", "\"http\" is not available in this build"),
        (of_type("mcp"), "nodes[1].type", "\"mcp\" is not available in this build"),
        (of_type("python"), "nodes[1].type", "\"python\" is not available in this build"),
        (of_type("note"), "nodes[1].type", "no type \"note\" of nodes; there are: agent, tool"),
        (with(&tool_node, &json!([{ "source": "a" }])), "edges[0]", "missing field `target`"),
        (
            with(&tool_node, &json!([{ "source": "x", "target": "t" }])),
            "edges[0].source",
            "no node \"x\"; there are: a, t",
        ),
        (with(&tool_node, &json!([{ "source": "a", "target": "x" }])), "edges[0].target", "no node \"x\""),
        (with(&tool_node, &json!([{ "source": "t", "target": "a" }])), "edges[0].source", "from an agent"),
        (with(&tool_node, &json!([{ "source": "a", "target": "a" }])), "edges[0].target", "to another agent"),
        (
            with(&tool_node, &json!([{ "source": "a", "target": "t" }, { "source": "a", "target": "t" }])),
            "edges[1].target",
            "taken",
        ),
        (
            with(
                &json!([agent("b", helper)]),
                &json!([{ "source": "a", "target": "b", "data": { "kind": "hand" } }]),
            ),
            "edges[0].data.kind",
            "unknown variant",
        ),
    ];
    for (config, path, reason) in cases {
        let error = refused(config.clone()).await;
        let head = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let named = error.strip_prefix("the agent \"sales\": ").unwrap_or(&error);
        assert!(named.starts_with(&head) && named.contains(reason), "{path}, {reason}: {error}\n{config}");
    }
}

#[test]
fn an_error_says_what_it_is_about() {
    let of = |text: &str| AgentConfig::from_json(text).unwrap_err();
    let error: AgentConfigError = of("{");
    assert!(error.is_syntax() && error.path().is_empty() && error.file().is_none(), "{error:?}");
    let error = of(r#"{"id": "a", "tools": [1]}"#);
    assert_eq!((error.path(), error.is_syntax(), error.is_unknown_name()), ("tools[0]", false, false));
    let node = Node::new("n", "mcp", Value::Null);
    let error = AgentSummary::of(&AgentConfig::graph("a", vec![node], Vec::new())).unwrap_err();
    assert_eq!((error.path(), error.is_not_available()), ("nodes[0].type", true));
    let edges = vec![Edge::new("x", "y")];
    let error = AgentSummary::of(&AgentConfig::graph("a", Vec::new(), edges)).unwrap_err();
    assert_eq!((error.path(), error.is_unknown_name()), ("edges[0].source", true));
    let error = serde_json::from_str::<AgentConfig>(r#"{"id": "a", "budget": {"tokens": 0}}"#).unwrap_err();
    assert!(error.to_string().contains("budget.tokens"), "{error}");
}

#[test]
fn the_tools_of_a_catalog_are_checked_when_the_assistant_is_built() {
    let build = |catalog: AgentCatalog| Assistant::builder(answering()).agents(catalog).build();
    let twice = build(catalog(Table::default()).tool(tool("count"))).unwrap_err().to_string();
    assert!(twice.contains("count") && twice.contains("two tools of this name"), "{twice}");
    let invalid = build(catalog(Table::default()).tool(tool("a b"))).unwrap_err().to_string();
    assert!(invalid.contains("a b"), "{invalid}");
}

#[test]
fn an_agent_of_code_takes_a_step_at_least() {
    let error =
        Assistant::builder(answering()).agent(Agent::new("a", "A.").max_steps(0)).build().unwrap_err();
    assert!(error.to_string().contains("no steps"), "{error}");
}

/// An agent of one configuration is not asked by another one by the name of its node.
#[tokio::test]
async fn the_agents_of_a_graph_belong_to_it() {
    let with_inner = with(
        &json!([agent("b", json!({ "name": "inner", "description": "Works." }))]),
        &json!([{ "source": "a", "target": "b" }]),
    );
    let mut lead = short(&json!({ "delegates": ["other", "inner"] }));
    lead["id"] = "lead".into();
    let mut other = with_inner;
    other["id"] = "other".into();
    let told = Told::default();
    let table = Table::of([("lead", lead), ("other", other.clone())]);
    let assistant = assistant_of(&answering(), catalog(table.clone()), &told);
    assert_eq!(run(&assistant, "ada", "lead").await.0, StatusCode::SERVICE_UNAVAILABLE);
    let error = told.only();
    assert!(error.contains("the agent \"lead\": delegates[1]: there is no agent \"inner\""), "{error}");

    // Two graphs that work in one run cannot have agents of one name.
    table.set(
        "ada",
        "both",
        json!({ "id": "both", "description": "Asks both.", "delegates": ["other", "third"] }),
    );
    other["id"] = "third".into();
    table.set("ada", "third", other);
    assert_eq!(run(&assistant, "ada", "both").await.0, StatusCode::SERVICE_UNAVAILABLE);
    let error = told.only();
    assert!(error.contains("the agent \"third\": nodes[1].data.name: \"inner\" is taken"), "{error}");
}
