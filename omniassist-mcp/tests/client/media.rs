//! Images, sounds and files of results.

use axum::Router;
use omniassist_mcp::client::McpServer;
use omniassist_server::files::FolderStore;

use super::http_server::{HttpServer, Lost};
use super::protocol::Protocol;
use super::{Desk, open};

#[tokio::test]
async fn media_become_files_of_the_user() {
    let server = HttpServer::start(Protocol::new(["media"]), Lost::NotFound).await;
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path()).unwrap();
    let files = |builder: omniassist_server::AssistantBuilder| builder.files(store);
    let desk = Desk::with([open(McpServer::http("docs", &server.url))], files).ready().await;
    let output = desk.call("docs_media").await["output"].clone();
    assert_eq!(output["untrusted_data_of"], "docs", "{output}");
    let files = output["files"].as_array().unwrap();
    let kinds: Vec<_> = files.iter().map(|file| (&file["filename"], &file["mediaType"])).collect();
    let kinds = serde_json::to_value(kinds).unwrap();
    assert_eq!(kinds, serde_json::json!([["image.png", "image/png"], ["notes.txt", "text/plain"]]));

    let text = output["text"].as_str().unwrap();
    let image = files[0]["url"].as_str().unwrap();
    assert!(text.contains(&format!("Look:\n[An image (image/png): {image}]")), "{text}");
    assert!(text.contains("[A sound (audio/wav, about") && text.contains("is not shown"), "{text}");
    assert!(text.contains("[A file (x://run.exe, about"), "a program is no image: {text}");
    assert!(text.contains("[A link to http://169.254.169.254/secret: secret.]"), "{text}");

    let app = Router::new().merge(omniassist_axum::router(desk.assistant.clone()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let url = format!("http://{address}{}", files[1]["url"].as_str().unwrap());
    assert_eq!(reqwest::get(url).await.unwrap().text().await.unwrap(), "hello");
}
