//! The official server with all features, from npm.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use omniassist_mcp::client::McpServer;
use omniassist_server::Principal;
use serde_json::json;

use super::chat::{Chat, keyed};
use super::{Desk, open};

/// Returns the script of the server, and the program that runs it.
pub(crate) fn everything() -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client/official");
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(script.exists(), "run `npm ci` in {}", folder.display());
    let path = std::env::var_os("PATH").unwrap();
    let node = std::env::split_paths(&path).map(|folder| folder.join("node")).find(|node| node.exists());
    (script, node.expect("node is needed: https://nodejs.org"))
}

async fn use_it(desk: &Desk, name: &str) {
    let sum = desk.call(&format!(r#"{name}_get-sum {{"a": 2, "b": 3}}"#)).await.to_string();
    assert!(sum.contains("The sum of 2 and 3 is 5"), "{sum}");
    let echo = desk.call(&format!(r#"{name}_echo {{"message": "hello"}}"#)).await.to_string();
    assert!(echo.contains("Echo: hello"), "{echo}");
    let structured = desk.call(&format!(r#"{name}_get-structured-content {{"location": "Chicago"}}"#)).await;
    assert!(structured.to_string().contains("temperature"), "{structured}");
    let image = desk.call(&format!("{name}_get-tiny-image")).await.to_string();
    assert!(image.contains("An image (image/png") && image.len() < 2000, "{image}");
    let began = Instant::now();
    for _ in 0..20 {
        desk.call(&format!(r#"{name}_echo {{"message": "hello"}}"#)).await;
    }
    println!("{name}: {:?} a run with a call; tools: {:?}", began.elapsed() / 20, desk.offered());
}

/// Reads what the server offers beside tools.
async fn read_it(server: &McpServer, desk: &Desk) {
    let user = Principal::anonymous();
    let resources = server.resources(&user).await.unwrap();
    let first = resources.iter().find(|resource| !resource.is_template).unwrap();
    let read = server.read(&user, &first.uri).await.unwrap();
    assert!(!read.is_empty(), "{first:?}");
    assert!(resources.iter().any(|resource| resource.is_template), "{resources:?}");
    assert!(server.read(&user, "x://absent").await.is_err());
    let by_model = desk.call(&format!(r#"npm_read_resource {{"uri": "{}"}}"#, first.uri)).await.to_string();
    assert!(by_model.contains("untrusted_data_of"), "{by_model}");

    let prompts = server.prompts(&user).await.unwrap();
    let with_arguments =
        prompts.iter().find(|prompt| prompt.arguments.iter().any(|own| own.is_required)).unwrap();
    let arguments = with_arguments.arguments.iter().map(|own| (own.name.clone(), "Paris".to_owned()));
    let messages = server.prompt(&user, &with_arguments.name, arguments).await.unwrap();
    assert!(messages[0].text.contains("Paris"), "{messages:?}");
    assert!(server.prompt(&user, &with_arguments.name, []).await.is_err());
    println!("{} resources and templates, {} prompts", resources.len(), prompts.len());
}

#[tokio::test]
async fn the_official_server_over_stdio() {
    let (script, node) = everything();
    let mut command = Command::new(node);
    command.arg(script).arg("stdio");
    let began = Instant::now();
    let server = Arc::new(open(McpServer::stdio("npm", &command)).resource_tools(true));
    let desk = Desk::new([Arc::clone(&server)]).ready().await;
    println!("connected after {:?}", began.elapsed());
    use_it(&desk, "npm").await;
    read_it(&server, &desk).await;
}

#[tokio::test]
async fn the_official_server_over_http_and_its_restart() {
    let (script, node) = everything();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = || {
        let mut command = tokio::process::Command::new(&node);
        command.arg(&script).arg("streamableHttp").env("PORT", port.to_string()).kill_on_drop(true);
        command.spawn().unwrap()
    };
    let mut server = start();
    let desk =
        Desk::new([open(McpServer::http("npm", format!("http://127.0.0.1:{port}/mcp")))]).ready().await;
    use_it(&desk, "npm").await;

    server.kill().await.unwrap();
    let gone = desk.call(r#"npm_echo {"message": "hello"}"#).await.to_string();
    assert!(gone.contains("The server cannot be reached now. The call did not run."), "{gone}");
    let _server = start();
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let began = Instant::now();
    let back = desk.call(r#"npm_echo {"message": "hello"}"#).await.to_string();
    assert!(back.contains("Echo: hello"), "{back}");
    println!("right {:?} after the restart", began.elapsed());
}

/// Answers the question of the official server, on another assistant if there is one.
async fn answer_it(asking: &Desk, answering: &Desk) -> String {
    let mut chat = Chat::new("ann");
    chat.say(asking, "npm_trigger-elicitation-request").await;
    let (message, schema) = chat.form();
    assert_eq!(message, "The server “npm” asks:\nPlease provide inputs for the following fields:");
    assert_eq!(schema["properties"].as_object().unwrap().len(), 13);
    chat.fill(&json!({"name": "Ann", "integer": 7, "titledMultipleSelectEnum": ["fish-2"]}));
    chat.post(answering).await;
    chat.told()
}

#[tokio::test]
async fn the_questions_of_the_official_server_are_forms() {
    let (script, node) = everything();
    let mut command = Command::new(node);
    command.arg(script).arg("stdio");
    let server = || open(McpServer::stdio("npm", &command));
    let desk = Desk::with([server()], keyed).ready().await;
    let told = answer_it(&desk, &desk).await;
    assert!(told.contains("User provided the requested information"), "{told}");
    assert!(told.contains("- Name: Ann") && told.contains("- Favorite Integer: 7"), "{told}");

    let other = Desk::with([server()], keyed).ready().await;
    let told = answer_it(&desk, &other).await;
    assert!(told.contains("was lost. The server may or may not have acted."), "{told}");

    let mut chat = Chat::new("ann");
    chat.say(&desk, r#"npm_trigger-url-elicitation {"url": "https://id.example/a", "errorPath": true}"#)
        .await;
    // First the page that the server needs before the call, then that of the call.
    assert!(chat.form().0.contains("a page of modelcontextprotocol.io:"), "{:?}", chat.form());
    chat.fill(&json!({}));
    chat.post(&desk).await;
    assert!(chat.form().0.contains("a page of id.example:"), "{:?}", chat.form());
    chat.fill(&json!({}));
    chat.post(&desk).await;
    assert!(chat.told().contains("User completed the URL elicitation flow"), "{}", chat.told());
}

#[tokio::test]
async fn users_of_the_official_server_over_http_get_their_own_questions() {
    let (script, node) = everything();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = tokio::process::Command::new(&node);
    command.arg(&script).arg("streamableHttp").env("PORT", port.to_string()).kill_on_drop(true);
    let _server = command.spawn().unwrap();
    let server = open(McpServer::http("npm", format!("http://127.0.0.1:{port}/mcp")));
    let desk = Desk::with([server], keyed).ready().await;
    let (mut ann, mut bob) = (Chat::new("ann"), Chat::new("bob"));
    for chat in [&mut ann, &mut bob] {
        chat.say(&desk, "npm_trigger-elicitation-request").await;
    }
    // They share the connection; the stream of each call shows whose question it is.
    for (chat, name) in [(&mut bob, "Bob"), (&mut ann, "Ann")] {
        chat.fill(&json!({"name": name}));
        chat.post(&desk).await;
        assert!(chat.told().contains(&format!("- Name: {name}")), "{}", chat.told());
    }
}
