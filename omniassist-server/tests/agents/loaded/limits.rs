//! Tests of limits that a configuration sets, and of those that it has.

use omniassist_server::testing::Turn;

use super::*;

#[tokio::test]
async fn an_agent_takes_as_many_steps_as_its_configuration_allows() {
    for (steps, ends) in [(2, "Two lamps."), (1, "max_steps")] {
        let model = ScriptedProvider::new().turn(call("count", json!({}))).turn(text("Two lamps."));
        let row = json!({ "id": "sales", "description": "Sells.", "tools": ["count"], "maxSteps": steps });
        let assistant = assistant_of(&model, catalog(Table::of([("sales", row)])), &Told::default());
        let (_, answer) = run(&assistant, "ada", "sales").await;
        assert!(answer.contains(ends), "{steps}: {answer}");
        assert_eq!(model.payloads().len(), steps);
    }
}

#[tokio::test]
async fn an_asked_agent_has_the_budget_of_its_configuration() {
    for (calls, status) in [(3, "completed"), (2, "incomplete")] {
        let small = ScriptedProvider::new().turn(call("count", json!({})).then(Turn::usage(10, 5)));
        let small = small.turn(text("Two lamps."));
        let model =
            ScriptedProvider::new().turn(call("stock", json!({ "task": "Count" }))).turn(text("Done."));
        let lead = json!({ "id": "lead", "description": "Leads.", "delegates": ["stock"] });
        let stock = json!({
            "id": "stock", "description": "Counts.", "tools": ["count"], "provider": "small",
            "budget": { "modelCalls": calls, "tokens": 50_000, "seconds": 9 },
        });
        let catalog = catalog(Table::of([("lead", lead), ("stock", stock)])).provider("small", small);
        let (_, answer) = run(&assistant_of(&model, catalog, &Told::default()), "ada", "lead").await;
        assert!(answer.contains(&format!(r#""status":"{status}""#)), "{calls}: {answer}");
    }
}

fn nodes(tools: usize) -> Vec<Node> {
    let tool = |index| Node::new(format!("t{index}"), "tool", json!({ "name": "count" }));
    let agent = Node::new("a", "agent", json!({ "description": "Sells." }));
    std::iter::once(agent).chain((0..tools).map(tool)).collect()
}

#[test]
fn a_graph_has_at_most_256_nodes_and_1024_edges() {
    let check = |nodes, edges| AgentSummary::of(&AgentConfig::graph("a", nodes, edges));
    check(nodes(255), Vec::new()).unwrap();
    let error = check(nodes(256), Vec::new()).unwrap_err();
    assert!(error.path() == "nodes" && error.to_string().contains("256"), "{error}");

    // Edges between 33 agents.
    let agents = || -> Vec<Node> {
        let agent = |index| Node::new(format!("n{index}"), "agent", json!({ "description": "Works." }));
        (0..33)
            .map(agent)
            .chain(std::iter::once(Node::new("a", "agent", json!({ "description": "Leads." }))))
            .collect()
    };
    let pairs = (0..33).flat_map(|from| (0..33).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let edges = |most| {
        pairs.clone().take(most).map(|(from, to)| Edge::new(format!("n{from}"), format!("n{to}"))).collect()
    };
    check(agents(), edges(1024)).unwrap();
    let error = check(agents(), edges(1025)).unwrap_err();
    assert!(error.path() == "edges" && error.to_string().contains("1024"), "{error}");
}

#[tokio::test]
async fn at_most_32_configurations_work_in_one_run() {
    for (asked, status) in [(31, StatusCode::OK), (32, StatusCode::SERVICE_UNAVAILABLE)] {
        let names: Vec<String> = (0..asked).map(|index| format!("worker{index}")).collect();
        let table =
            Table::of([("lead", json!({ "id": "lead", "description": "Leads.", "delegates": names }))]);
        for name in names {
            let row = json!({ "id": name, "description": "Works." });
            table.set("ada", Box::leak(name.into_boxed_str()), row);
        }
        let told = Told::default();
        let assistant = assistant_of(&answering(), catalog(table), &told);
        assert_eq!(run(&assistant, "ada", "lead").await.0, status);
        if status != StatusCode::OK {
            let error = told.only();
            assert!(error.contains("delegates[31]: at most 32 configurations"), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_agents_of_1024_users_are_kept() {
    let table = Table::default();
    let users: Vec<&'static str> =
        (0..1025).map(|index| &*Box::leak(format!("user{index}").into_boxed_str())).collect();
    for user in &users {
        table.set(user, "own", json!({ "id": "own", "description": "Helps." }));
    }
    let assistant = assistant_of(&answering(), catalog(table.clone()), &Told::default());
    let load = |user: &'static str| {
        let assistant = assistant.clone();
        async move { assistant.agent_for("own", &Principal::new(user)).await.unwrap().unwrap() }
    };
    for user in &users[..1024] {
        load(user).await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    load(users[0]).await;
    assert_eq!(table.loads(), 1024);
    // The one that was loaded first makes way.
    load(users[1024]).await;
    assert_eq!(table.loads(), 1025);
    load(users[1]).await;
    assert_eq!(table.loads(), 1025);
    load(users[0]).await;
    assert_eq!(table.loads(), 1026);
}
