use super::{bullets, compress};
use serde_json::json;

fn one(data: serde_json::Value) -> String {
    let compressed = compress([("navigation", data)]);
    let [line] = bullets(&compressed)[..] else { panic!("expected one bullet") };
    line.to_owned()
}

#[test]
fn shapes_of_a_navigation() {
    for (data, expected) in [
        (json!("/orders"), "Opened /orders"),
        (json!({"path": "/orders"}), "Opened /orders"),
        (json!({"url": "https://shop.test/orders?page=2#top"}), "Opened https://shop.test/orders?page=2#top"),
        (json!({"to": "/b", "from": "/a"}), "Opened /b from /a"),
        (json!({"path": "/a", "title": "Ann's \"page\""}), r#"Opened /a ("Ann's \"page\"")"#),
        (
            json!({"path": "/o/7", "params": {"tab": "items", "id": 7}}),
            r#"Opened /o/7 with id = 7, tab = "items""#,
        ),
        (json!({"path": "/a", "query": {"q": ["x", 1]}}), r#"Opened /a with q = ["x",1]"#),
        (json!({"path": "/a", "search": "?q=x"}), "Opened /a?q=x"),
        (json!({"pathname": "/a", "search": "?q=x", "hash": "#h"}), "Opened /a?q=x"),
        (json!({"location": {"pathname": "/a", "search": "?q=x", "hash": "#h"}}), "Opened /a?q=x#h"),
        (
            json!({"to": {"fullPath": "/a?q=1", "path": "/a", "query": {"q": "1"}}}),
            r#"Opened /a?q=1 with q = "1""#,
        ),
        (json!({"to": {"name": "orders"}, "from": {"path": "/"}}), "Opened orders from /"),
        (json!({"path": "/with space"}), r#"Opened "/with space""#),
        (json!({"path": "/a", "from": "", "title": "", "params": {}}), "Opened /a"),
        (json!({"path": "/a", "from": "/a"}), "Opened /a"),
    ] {
        assert_eq!(one(data.clone()), expected, "{data}");
    }
}

#[test]
fn a_navigation_without_a_target_is_shown_like_any_other_kind() {
    assert_eq!(one(json!({"direction": "back"})), r#"navigation: direction = "back""#);
    assert_eq!(one(json!(7)), "navigation: 7");
    assert_eq!(one(json!(null)), "navigation");
}

#[test]
fn consecutive_navigations_to_one_path_are_merged() {
    let compressed = compress([
        ("navigation", json!({"path": "/home"})),
        ("navigation", json!({"path": "/list?page=1", "from": "/home", "title": "One"})),
        ("navigation", json!({"path": "/list?page=2", "from": "/list", "title": "Two"})),
        ("navigation", json!({"path": "/list#end"})),
        ("navigation", json!({"path": "/item", "from": "/list?page=2"})),
        ("navigation", json!({"path": "/list"})),
    ]);
    insta::assert_snapshot!(bullets(&compressed).join("\n"), @r#"
    Opened /home
    Opened /list#end ×3
    Opened /item
    Opened /list
    "#);
    assert_eq!((compressed.receipt().kept, compressed.receipt().merged), (4, 2));
}

#[test]
fn consecutive_navigations_keep_their_origin() {
    let compressed = compress([
        ("navigation", json!({"path": "/list", "from": "/start"})),
        ("navigation", json!({"path": "/list?page=2", "from": "/list"})),
        ("click", json!({"on": "save"})),
        ("navigation", json!({"path": "/list"})),
    ]);
    insta::assert_snapshot!(bullets(&compressed).join("\n"), @r#"
    Opened /list?page=2 from /start ×2
    click: on = "save"
    Opened /list
    "#);
}

#[test]
fn a_path_in_the_fragment_counts_as_a_page() {
    let compressed = compress([
        ("navigation", json!({"path": "/#/a"})),
        ("navigation", json!({"path": "/#/b"})),
        ("navigation", json!({"path": "/#/b?x=1"})),
    ]);
    assert_eq!(bullets(&compressed), ["Opened /#/a", "Opened /#/b?x=1 ×2"]);
}
