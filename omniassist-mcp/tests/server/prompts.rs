use omniassist_mcp::{Content, Expose, Prompt, PromptMessage, Resource};
use serde_json::{Value, json};

use super::host::{Client, Ran, builder, serve_as};

fn greet() -> Prompt {
    let greet = Prompt::new("greet", "Greets a person", async |request| {
        let (name, tone) = (request.argument("name").unwrap(), request.argument("tone").unwrap_or("calm"));
        let user = request.caller().principal().id().to_owned();
        Ok(vec![
            PromptMessage::user(format!("{user}: {name}, {tone}")),
            PromptMessage::assistant(Content::image("image/png", [1])),
        ])
    });
    greet.required_argument("name", "Who it is").argument("tone", "How to say it").title("Greet")
}

async fn get(client: &Client, arguments: Value) -> Value {
    client.send("prompts/get", json!({ "name": "greet", "arguments": arguments })).await
}

#[tokio::test]
async fn a_prompt_is_listed_and_filled_in() {
    let client = serve_as(builder(&Ran::default()), Expose::tools().prompt(greet())).await;
    let list = client.send("prompts/list", json!({})).await;
    let listed = json!([{
        "name": "greet", "title": "Greet", "description": "Greets a person",
        "arguments": [
            { "name": "name", "description": "Who it is", "required": true },
            { "name": "tone", "description": "How to say it", "required": false }
        ]
    }]);
    assert_eq!(list["result"]["prompts"], listed);
    assert_eq!(
        (&list["result"]["ttlMs"], &list["result"]["cacheScope"]),
        (&json!(60_000), &json!("private"))
    );
    let answer = get(&client, json!({ "name": "Eve", "other": 7 })).await;
    assert_eq!(
        answer["result"]["messages"],
        json!([
            { "role": "user", "content": { "type": "text", "text": "ann: Eve, calm" } },
            { "role": "assistant", "content": { "type": "image", "data": "AQ==", "mimeType": "image/png" } }
        ])
    );
    let legacy =
        client.send_legacy("prompts/get", json!({ "name": "greet", "arguments": { "name": "Eve" } }));
    assert_eq!(legacy.await["result"]["messages"][0]["content"]["text"], "ann: Eve, calm");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused() {
    let client = serve_as(builder(&Ran::default()), Expose::tools().prompt(greet())).await;
    for arguments in [json!({ "name": 7 }), json!({ "name": "Eve", "tone": {} }), json!({ "name": null })] {
        assert_eq!(get(&client, arguments.clone()).await["error"]["code"], -32602, "{arguments}");
    }
    let missing = get(&client.without_elicitation(), json!({ "tone": "loud" })).await;
    assert_eq!(missing["error"]["message"], "The argument `name` is missing.");
    let legacy = client.send_legacy("prompts/get", json!({ "name": "greet" })).await;
    assert_eq!(legacy["error"]["code"], -32602);
}

#[tokio::test]
async fn the_user_is_asked_for_a_missing_argument() {
    let client = serve_as(builder(&Ran::default()), Expose::tools().prompt(greet())).await;
    let asked = get(&client, json!({ "tone": "loud" })).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let params = &asked["result"]["inputRequests"]["arguments"]["params"];
    assert_eq!(params["requestedSchema"]["properties"].as_object().unwrap().len(), 1);
    assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
    let answered = |response: Value| {
        let params = json!({
            "name": "greet", "arguments": { "tone": "loud" }, "inputResponses": { "arguments": response }
        });
        client.send("prompts/get", params)
    };
    let given = answered(json!({ "action": "accept", "content": { "name": "Eve", "other": "x" } })).await;
    assert_eq!(given["result"]["messages"][0]["content"]["text"], "ann: Eve, loud");
    let declined = answered(json!({ "action": "decline" })).await;
    assert_eq!(declined["error"]["message"], "The user declined to answer.");
    let incomplete = answered(json!({ "action": "accept", "content": {} })).await;
    assert_eq!(incomplete["error"]["message"], "The argument `name` is missing.");
}

#[tokio::test]
async fn a_hidden_prompt_is_answered_like_an_unknown_one() {
    let hidden = greet().visible_to(|caller| caller.principal().id() == "ann");
    let hidden = hidden.complete("name", async |_| Ok(vec!["Eve".to_owned()]));
    let client = serve_as(builder(&Ran::default()), Expose::tools().prompt(hidden)).await;
    let bob = client.of("bob");
    assert_eq!(bob.send("prompts/list", json!({})).await["result"]["prompts"], json!([]));
    let unknown = bob.send("prompts/get", json!({ "name": "absent" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(get(&bob, json!({ "name": "Eve" })).await, unknown);
    let complete = |client: &Client, name: &str| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": name }, "argument": { "name": "name", "value": "" }
        });
        let client = client.clone();
        async move { client.send("completion/complete", params).await }
    };
    assert_eq!(complete(&client, "greet").await["result"]["completion"]["values"], json!(["Eve"]));
    assert_eq!(complete(&bob, "greet").await, complete(&bob, "absent").await);
}

#[tokio::test]
async fn arguments_and_parameters_are_completed() {
    let prompt = greet().complete("name", async |request| {
        let tone = request.argument("tone").unwrap_or_default().to_owned();
        let found = (0..150).map(|number| format!("{}{tone}{number}", request.value()));
        Ok(found.collect())
    });
    let order = Resource::template("shop://{id}", "order", async |_| Ok(None));
    let order = order.complete("id", async |request| Ok(vec![format!("{}7", request.value())]));
    let client = serve_as(builder(&Ran::default()), Expose::tools().prompt(prompt).resource(order)).await;
    let discovered = client.send("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["capabilities"]["completions"], json!({}));
    let named = client.send(
        "completion/complete",
        json!({
            "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "name", "value": "E" },
            "context": { "arguments": { "tone": "loud" } }
        }),
    );
    let completion = named.await["result"]["completion"].clone();
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(completion["values"][0], "Eloud0");
    let of = |uri: &str, argument: &str| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": uri }, "argument": { "name": argument, "value": "1" }
        });
        client.send("completion/complete", params)
    };
    assert_eq!(of("shop://{id}", "id").await["result"]["completion"]["values"], json!(["17"]));
    assert_eq!(of("shop://{id}", "other").await["result"]["completion"]["values"], json!([]));
    assert_eq!(of("shop://{other}", "id").await["error"]["code"], -32602);
}
