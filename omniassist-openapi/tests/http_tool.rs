//! Tools of single operations.

use omniassist_openapi::{Auth, HttpTool};
use schemars::JsonSchema;
use serde_json::json;

use crate::server::{Server, call, json_reply, schema};

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Article {
    /// The number of the article.
    article: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Filter {
    site: Option<String>,
    tags: Vec<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Change {
    article: u32,
    children: Vec<Change>,
}

#[tokio::test]
async fn the_fields_of_types_are_the_arguments() {
    let server = Server::start().await;
    let url = format!("{}/articles/{{article}}/stock", server.url());
    let tool = HttpTool::get("stock", "Stock of an article", url)
        .path::<Article>()
        .query::<Filter>()
        .secret_header("x-api-key", "secret")
        .auth(Auth::basic("a", "b"))
        .allow_hosts(["127.0.0.1"])
        .select("/items/*/{site}")
        .build()
        .unwrap();
    let schema = schema(&tool);
    assert_eq!(schema["properties"]["article"]["description"], "The number of the article.");
    assert_eq!(schema["required"], json!(["article", "tags"]));
    server.reply(json_reply(&json!({ "items": [{ "site": "B", "x": 1 }] })));
    let output = call(&tool, &json!({ "article": "4/7", "site": null, "tags": ["a", "b"] })).await.unwrap();
    assert_eq!(output, json!([{ "site": "B" }]));
    let received = server.last();
    assert_eq!(received.target, "/articles/4%2F7/stock?tags=a&tags=b");
    assert_eq!((received.header("x-api-key"), received.header("authorization")), ("secret", "Basic YTpi"));
}

#[tokio::test]
async fn a_body_is_json_and_shares_no_name_with_the_path() {
    let server = Server::start().await;
    let tool =
        HttpTool::put("change", "Changes an article", format!("{}/articles/{{article}}", server.url()))
            .path::<Article>()
            .body::<Change>()
            .auth(Auth::bearer("token"))
            .allow_hosts(["127.0.0.1"])
            .build()
            .unwrap();
    let arguments =
        json!({ "path_article": "1", "body_article": 2, "children": [{ "article": 3, "children": [] }] });
    call(&tool, &arguments).await.unwrap();
    let received = server.last();
    assert_eq!((received.method.as_str(), received.target.as_str()), ("PUT", "/articles/1"));
    assert_eq!(received.body, r#"{"article":2,"children":[{"article":3,"children":[]}]}"#);
    assert_eq!(
        (received.header("content-type"), received.header("authorization")),
        ("application/json", "Bearer token")
    );
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let get = |url: &str| HttpTool::get("stock", "Stock", url);
    for (tool, reason) in [
        (get("https://erp.test/{article}"), "no field for the placeholder \"article\""),
        (get("https://erp.test/{other}").path::<Article>(), "no field for the placeholder \"other\""),
        (get("https://erp.test/").path::<Article>(), "no placeholder for the field \"article\""),
        (get("https://erp.test/{article").path::<Article>(), "open brace"),
        (get("https://erp.test/a?b={article}").path::<Article>(), "use `query`"),
        (get("https://erp.test/").query::<Vec<String>>(), "must be a struct"),
        (get("https://erp.test/").body::<Change>(), "has no body"),
        (get("https://erp.test/").select("x"), "does not begin"),
        (get("http://erp.test/"), "must begin with https://"),
        (get("https://10.0.0.1/"), "cannot be used"),
        (get("https://{article}.erp.test/").path::<Article>(), "is not valid"),
        (get("erp.test"), "must begin with"),
        (HttpTool::get("no name", "Stock", "https://erp.test"), "cannot be registered"),
        (HttpTool::get("search_stock", "", "https://erp.test").secret_header("\n", ""), "`secret_header`"),
    ] {
        let error = tool.build().unwrap_err();
        assert!(error.is_configuration() && error.pointer().is_none(), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    assert!(get("https://erp.test").build().is_ok());
}

#[test]
fn a_password_in_a_url_is_in_no_error() {
    // A `/` ends the host, so the rest of the password is in the path.
    for url in [
        "https://user:secret@erp.test/",
        "https://user:secret/word@erp.test/",
        "https://user:1/secret@erp.test/{article",
    ] {
        let error = HttpTool::get("stock", "Stock", url).build().unwrap_err();
        let text = format!("{error} {error:?}");
        assert!(error.is_configuration() && text.contains("erp.test") && !text.contains("secret"), "{text}");
    }
}
