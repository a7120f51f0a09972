//! Tests of `GET /components.js`.

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use omniassist_server::Assistant;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::ScriptedProvider;

async fn get(path: &str, tag: Option<&str>) -> (u16, String, bytes::Bytes) {
    // The assistant admits no anonymous caller, and a script element sends no credentials.
    let assistant = Assistant::builder(ScriptedProvider::new()).build().unwrap();
    let mut request = Request::get(path).header("host", "localhost");
    if let Some(tag) = tag {
        request = request.header("if-none-match", tag);
    }
    let request = request.body(Empty::<bytes::Bytes>::new()).unwrap();
    let response = AssistantService::new(assistant).handle(request).await;
    let headers = response.headers();
    let header =
        |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let (kind, tag) = (header("content-type"), header("etag"));
    if response.status() == 200 {
        assert_eq!(
            (kind.as_str(), &*header("x-content-type-options")),
            ("text/javascript; charset=utf-8", "nosniff")
        );
    }
    (response.status().as_u16(), tag, response.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn the_module_of_the_components_is_served_without_a_principal() {
    let (status, tag, body) = get("/components.js", None).await;
    assert_eq!(status, 200);
    assert!(std::str::from_utf8(&body).unwrap().contains("registerComponent"));
    assert_eq!(body, &include_bytes!("../../assets/components.js")[..]);

    let (status, _, body) = get("/components.js", Some(&format!("\"other\", W/{tag}"))).await;
    assert_eq!((status, body.len()), (304, 0));
    assert_eq!(get("/components.js", Some("\"other\"")).await.0, 200);
    assert_eq!(get("/manifest.json", None).await.0, 401, "all else needs a principal");
}
