//! Every location and style of parameters, as a server receives it.

use serde_json::{Value, json};

use crate::server::{Server, call, document, failed, tool};

/// Returns a document with one operation, which has one parameter.
fn one(version: &str, location: &str, style: Option<&str>, explode: Option<bool>) -> Value {
    let mut parameter = json!({ "name": "p", "in": location, "required": true, "schema": {} });
    if let Some(style) = style {
        parameter["style"] = style.into();
    }
    if let Some(explode) = explode {
        parameter["explode"] = explode.into();
    }
    let path = if location == "path" { "/a/{p}/z" } else { "/a" };
    document(version, &json!({ path: { "get": { "operationId": "one", "parameters": [parameter] } } }))
}

async fn sent(
    server: &Server,
    location: &str,
    style: Option<&str>,
    explode: Option<bool>,
    value: &Value,
) -> String {
    // Both versions write a parameter in the same way.
    let [old, received] = ["3.0.3", "3.1.0"].map(|version| async move {
        let tools = server.open(&one(version, location, style, explode)).tools().unwrap();
        call(&tool(&tools, "t_one"), &json!({ "p": value })).await.unwrap();
        server.last()
    });
    let (old, received) = (old.await, received.await);
    assert_eq!((&old.target, &old.headers), (&received.target, &received.headers));
    match location {
        "path" => received.target.strip_prefix("/a/").unwrap().strip_suffix("/z").unwrap().to_owned(),
        "query" => received.target.strip_prefix("/a").unwrap().to_owned(),
        "header" => received.header("p").to_owned(),
        _ => received.header("cookie").to_owned(),
    }
}

#[tokio::test]
async fn each_location_and_style_is_sent_as_the_standard_says() {
    let server = Server::start().await;
    let (one, list, object) = (json!("blue"), json!(["blue", "black"]), json!({ "G": 200, "R": 100 }));
    let rows: &[(&str, &str, bool, [&str; 3])] = &[
        ("path", "simple", false, ["blue", "blue,black", "G,200,R,100"]),
        ("path", "simple", true, ["blue", "blue,black", "G=200,R=100"]),
        ("path", "label", false, [".blue", ".blue,black", ".G,200,R,100"]),
        ("path", "label", true, [".blue", ".blue.black", ".G=200.R=100"]),
        ("path", "matrix", false, [";p=blue", ";p=blue,black", ";p=G,200,R,100"]),
        ("path", "matrix", true, [";p=blue", ";p=blue;p=black", ";G=200;R=100"]),
        ("query", "form", false, ["?p=blue", "?p=blue,black", "?p=G,200,R,100"]),
        ("query", "form", true, ["?p=blue", "?p=blue&p=black", "?G=200&R=100"]),
        ("query", "spaceDelimited", false, ["?p=blue", "?p=blue%20black", "?p=G%20200%20R%20100"]),
        ("query", "spaceDelimited", true, ["?p=blue", "?p=blue&p=black", "?G=200&R=100"]),
        ("query", "pipeDelimited", false, ["?p=blue", "?p=blue%7Cblack", "?p=G%7C200%7CR%7C100"]),
        ("query", "pipeDelimited", true, ["?p=blue", "?p=blue&p=black", "?G=200&R=100"]),
        (
            "query",
            "deepObject",
            true,
            ["?p=blue", "?p%5B0%5D=blue&p%5B1%5D=black", "?p%5BG%5D=200&p%5BR%5D=100"],
        ),
        (
            "query",
            "deepObject",
            false,
            ["?p=blue", "?p%5B0%5D=blue&p%5B1%5D=black", "?p%5BG%5D=200&p%5BR%5D=100"],
        ),
        ("header", "simple", false, ["blue", "blue,black", "G,200,R,100"]),
        ("header", "simple", true, ["blue", "blue,black", "G=200,R=100"]),
        ("cookie", "form", false, ["p=blue", "p=blue,black", "p=G,200,R,100"]),
        ("cookie", "form", true, ["p=blue", "p=blue; p=black", "G=200; R=100"]),
    ];
    for (location, style, explode, expected) in rows {
        for (value, expected) in [&one, &list, &object].into_iter().zip(expected) {
            let sent = sent(&server, location, Some(style), Some(*explode), value).await;
            assert_eq!(sent, *expected, "{location} {style} {explode} {value}");
        }
    }
    assert_eq!(server.received().len(), rows.len() * 3 * 2);
}

#[tokio::test]
async fn the_default_style_depends_on_the_location() {
    let server = Server::start().await;
    let list = json!(["a", "b"]);
    for (location, expected) in
        [("path", "a,b"), ("query", "?p=a&p=b"), ("header", "a,b"), ("cookie", "p=a; p=b")]
    {
        assert_eq!(sent(&server, location, None, None, &list).await, expected, "{location}");
    }
}

#[tokio::test]
async fn values_are_encoded_so_that_they_have_no_meaning_in_a_url() {
    let server = Server::start().await;
    let hostile = json!("a+b &c=d#e?f/g%2Fh;i,j\\k\u{e9}\r\n");
    let encoded = "a%2Bb%20%26c%3Dd%23e%3Ff%2Fg%252Fh%3Bi%2Cj%5Ck%C3%A9%0D%0A";
    assert_eq!(sent(&server, "path", None, None, &hostile).await, encoded);
    assert_eq!(sent(&server, "query", None, None, &hostile).await, format!("?p={encoded}"));
    assert_eq!(sent(&server, "cookie", None, None, &hostile).await, format!("p={encoded}"));
    // The server decodes a reserved character, also if the document allows it as it is.
    let mut open = one("3.0.3", "query", None, None);
    open["paths"]["/a"]["get"]["parameters"][0]["allowReserved"] = true.into();
    let tools = server.open(&open).tools().unwrap();
    call(&tool(&tools, "t_one"), &json!({ "p": hostile })).await.unwrap();
    assert_eq!(server.last().target, format!("/a?p={encoded}"));
    let names = json!({ "a&b=": 1 });
    assert_eq!(sent(&server, "query", Some("deepObject"), None, &names).await, "?p%5Ba%26b%3D%5D=1");
    let count = server.received().len();
    let tools = server.open(&one("3.1.0", "header", None, None)).tools().unwrap();
    for value in ["a\r\nx: y", "\u{e9}"] {
        let text = failed(&tool(&tools, "t_one"), &json!({ "p": value })).await;
        assert_eq!(text, "The argument for the header `p` has characters that a header cannot have.");
    }
    assert_eq!(server.received().len(), count);
}

#[tokio::test]
async fn a_number_without_a_fraction_is_an_integer() {
    let server = Server::start().await;
    for (value, expected) in [
        (json!(5.0), "5"),
        (json!(-3.0), "-3"),
        (json!(-0.0), "0"),
        (json!(1e20), "100000000000000000000"),
        (json!(1.5), "1.5"),
        (json!(u64::MAX), "18446744073709551615"),
    ] {
        for (location, begin) in [("path", ""), ("query", "?p="), ("header", ""), ("cookie", "p=")] {
            assert_eq!(sent(&server, location, None, None, &value).await, format!("{begin}{expected}"));
        }
        let list = json!([value]);
        assert_eq!(sent(&server, "path", None, None, &list).await, expected);
    }
}

#[tokio::test]
async fn scalars_nulls_empty_and_nested_values() {
    let server = Server::start().await;
    for (value, expected) in [
        (json!(1.5), "?p=1.5"),
        (json!(true), "?p=true"),
        (json!(""), "?p="),
        (json!(null), ""),
        (json!([]), ""),
        (json!({}), ""),
        (json!([1, null]), "?p=1&p="),
        (json!({ "a": null, "b": 2 }), "?b=2"),
    ] {
        assert_eq!(sent(&server, "query", None, None, &value).await, expected, "{value}");
    }
    let nested = json!({ "a": { "b": [1, 2] } });
    let deep = sent(&server, "query", Some("deepObject"), None, &nested).await;
    assert_eq!(deep, "?p%5Ba%5D%5Bb%5D%5B0%5D=1&p%5Ba%5D%5Bb%5D%5B1%5D=2");
    let deep = sent(&server, "query", Some("deepObject"), None, &json!([{ "a": 1 }, { "a": [2] }])).await;
    assert_eq!(deep, "?p%5B0%5D%5Ba%5D=1&p%5B1%5D%5Ba%5D%5B0%5D=2");
    let tools = server.open(&one("3.1.0", "query", None, None)).tools().unwrap();
    let text = failed(&tool(&tools, "t_one"), &json!({ "p": [[1]] })).await;
    assert_eq!(text, "The argument for `p` cannot be sent: a list or an object within it has no form.");
    let tools = server.open(&one("3.1.0", "query", Some("deepObject"), None)).tools().unwrap();
    let text = failed(&tool(&tools, "t_one"), &json!({ "p": { "a]": 1 } })).await;
    assert_eq!(text, "The argument for `p` cannot be sent: a name within it has a bracket.");
}

#[tokio::test]
async fn a_parameter_with_a_media_type_is_json() {
    let server = Server::start().await;
    for (location, expected) in [
        ("query", "/a?p=%7B%22x%22%3A%5B1%5D%7D"),
        ("header", "{\"x\":[1]}"),
        ("cookie", "p=%7B%22x%22%3A%5B1%5D%7D"),
    ] {
        let content = json!({ "application/json": { "schema": { "type": "object" } } });
        let parameters = json!([{ "name": "p", "in": location, "content": content }]);
        let paths = json!({ "/a": { "get": { "operationId": "one", "parameters": parameters } } });
        let tools = server.open(&document("3.0.3", &paths)).tools().unwrap();
        call(&tool(&tools, "t_one"), &json!({ "p": { "x": [1] } })).await.unwrap();
        let received = server.last();
        let sent = match location {
            "query" => received.target.as_str(),
            "header" => received.header("p"),
            _ => received.header("cookie"),
        };
        assert_eq!(sent, expected);
    }
}
