//! The paths at which an assistant can be mounted, and the forms of request paths.

use serde_json::json;

use crate::host::{HEALTH, Host, NOWHERE};
use crate::stage::{adder, adding, assistant, built, conversation, run, says, stuck_after};
use crate::transport::Transport;
use crate::wire::Ask;

/// Checks the routes that depend on the path of the mount.
async fn mounted_at(on: Transport, mount: &str) {
    let assistant = assistant(says("Hello")).tool(adder()).build().unwrap();
    let host = Host::mounted(on, &[(mount, &assistant)]).await;
    let base = mount.trim_end_matches('/');
    let mut addresses = vec![format!("{base}/"), format!("{base}/?ai-sdk=6"), format!("{base}//")];
    if !base.is_empty() {
        addresses.extend([base.to_owned(), format!("{base}?ai-sdk=6")]);
    }
    for address in addresses {
        assert_eq!(host.ask(&run(&address)).await.whole().await.words(), "Hello", "{address}");
    }
    let manifest = host.ask(&Ask::get(format!("{base}/manifest.json"))).await.whole().await;
    assert_eq!(manifest.json()["tools"][0]["name"], "add");
    let models = host.ask(&Ask::get(format!("{base}/v1/models"))).await.whole().await;
    assert_eq!(models.json()["data"][0]["id"], "omniassist");
    let stop = host.ask(&Ask::json(format!("{base}/c/stop"), &json!({}))).await.whole().await;
    assert_eq!(stop.json(), json!({ "stopped": false }));
    let nowhere = host.ask(&Ask::get(format!("{base}/nowhere"))).await.whole().await;
    assert_eq!(nowhere.json()["error"]["code"], "not_found");
    if !base.is_empty() {
        assert_eq!(host.ask(&Ask::get("/health")).await.whole().await.text(), HEALTH);
        for path in [format!("{base}s"), format!("{base}s/manifest.json"), "/".to_owned()] {
            assert_eq!(host.ask(&Ask::get(&path)).await.whole().await.text(), NOWHERE, "{path}");
        }
    }
}

pub(crate) async fn at_the_root(on: Transport) {
    mounted_at(on, "/").await;
}

pub(crate) async fn below_a_path(on: Transport) {
    mounted_at(on, "/assistant").await;
}

pub(crate) async fn below_three_segments(on: Transport) {
    mounted_at(on, "/a/b/c").await;
}

pub(crate) async fn trailing_slashes(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    for path in ["/assistant/manifest.json", "/assistant/v1/models", "/assistant/copilotkit/info"] {
        let plain = host.ask(&Ask::get(path)).await.whole().await;
        let slash = host.ask(&Ask::get(format!("{path}/"))).await.whole().await;
        assert_eq!((plain.status(), plain.body), (200, slash.body), "{path}");
    }
    let completion = Ask::json("/assistant/completion/", &json!({ "prompt": "hi" }));
    assert_eq!(host.ask(&completion).await.whole().await.words(), "Hello");
}

pub(crate) async fn query_strings(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    for query in ["?", "?x", "?x=%zz&y=%20", "?a=/b/c", "?a=b?c", "?protocol=data&protocol=text"] {
        let answer = host.ask(&run(&format!("/assistant{query}"))).await.whole().await;
        assert_eq!(answer.words(), "Hello", "{query}");
    }
    let text = host.ask(&run("/assistant/?x=1&protocol=text")).await.whole().await;
    assert_eq!(text.text(), "Hello");
    let manifest = host.ask(&Ask::get("/assistant/manifest.json?v=1")).await.whole().await;
    assert_eq!(manifest.status(), 200);
}

pub(crate) async fn escapes_in_the_id_of_a_chat(on: Transport) {
    for mount in ["/", "/assistant", "/a/b/c"] {
        let host = Host::mounted(on, &[(mount, &built(stuck_after("so far")))]).await;
        let base = mount.trim_end_matches('/');
        let mut running = host.ask(&Ask::json(format!("{base}/"), &conversation("a b?c#%41"))).await;
        running.until("so far").await;
        for (id, stopped) in [
            ("a%20b%3Fc%23A", false),
            ("a%20b%3Fc%23%41", false),
            ("a%2520b%253Fc%2523%252541", false),
            ("a%20b%3Fc%23%2541", true),
        ] {
            let stop = Ask::json(format!("{base}/{id}/stop"), &json!({}));
            assert_eq!(host.ask(&stop).await.whole().await.json(), json!({ "stopped": stopped }), "{id}");
        }
        assert!(running.whole().await.text().contains("\"abort\""));
    }
}

/// An escaped slash is part of a segment.
pub(crate) async fn escaped_slashes(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    let stop = host.ask(&Ask::json("/assistant/a%2Fb/stop", &json!({}))).await.whole().await;
    assert_eq!((stop.status(), stop.json()), (200, json!({ "stopped": false })));
    let stream = host.ask(&Ask::get("/assistant/a%2Fb%2Fc/stream")).await.whole().await;
    assert_eq!(stream.status(), 204);
    for path in ["/assistant/a/b/stop", "/assistant/v1%2Fmodels", "/assistant/copilotkit%2Finfo"] {
        assert_eq!(host.ask(&Ask::get(path)).await.whole().await.status(), 404, "{path}");
    }
}

/// Clients of a proxy send the absolute form.
pub(crate) async fn a_request_with_its_whole_uri(on: Transport) {
    let host = Host::start(on, &built(says("Hello"))).await;
    assert_eq!(host.ask(&run("/assistant").absolute()).await.whole().await.words(), "Hello");
    let manifest = Ask::get("/assistant/manifest.json?x=1").absolute();
    assert_eq!(host.ask(&manifest).await.whole().await.status(), 200);
    assert_eq!(host.ask(&Ask::get("/health").absolute()).await.whole().await.text(), HEALTH);
}

pub(crate) async fn two_assistants_in_one_backend(on: Transport) {
    let (one, two) = (built(says("I am one")), assistant(adding()).tool(adder()).build().unwrap());
    for paths in [["/one", "/two"], ["/a/one", "/a/two"]] {
        let host = Host::mounted(on, &[(paths[0], &one), (paths[1], &two)]).await;
        let tools = |path: &str| Ask::get(format!("{path}/manifest.json"));
        let of_one = host.ask(&tools(paths[0])).await.whole().await.json();
        let of_two = host.ask(&tools(paths[1])).await.whole().await.json();
        assert_eq!(
            (of_one["tools"].as_array().unwrap().len(), of_two["tools"].as_array().unwrap().len()),
            (0, 1)
        );
        assert_eq!(host.ask(&run(paths[0])).await.whole().await.words(), "I am one");
        assert_eq!(host.ask(&Ask::get("/health")).await.whole().await.text(), HEALTH);
    }
    let host = Host::mounted(on, &[("/one", &one), ("/two", &two)]).await;
    assert_eq!(host.ask(&run("/two")).await.whole().await.words(), "Let me see. It is 3.");
}

/// Chats with the same id at two assistants are two chats.
pub(crate) async fn two_assistants_keep_separate_chats(on: Transport) {
    let (one, two) = (built(stuck_after("so far")), built(stuck_after("so far")));
    let host = Host::mounted(on, &[("/one", &one), ("/two", &two)]).await;
    let mut of_one = host.ask(&run("/one")).await;
    let mut of_two = host.ask(&run("/two")).await;
    of_one.until("so far").await;
    of_two.until("so far").await;
    let stop = host.ask(&Ask::json("/two/c/stop", &json!({}))).await.whole().await;
    assert_eq!(stop.json()["stopped"], true);
    assert!(of_two.whole().await.text().contains("\"abort\""));
    assert_eq!((one.live_runs(), two.live_runs()), (1, 0));
}
