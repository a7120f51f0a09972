use super::{bullets, compress};
use serde_json::json;

fn one(data: serde_json::Value) -> String {
    let compressed = compress([("form", data)]);
    let [line] = bullets(&compressed)[..] else { panic!("expected one bullet") };
    line.to_owned()
}

#[test]
fn shapes_of_a_form() {
    for (data, expected) in [
        (json!({"form": "f", "fields": {"b": 1, "a": "x"}}), r#"Form f: a = "x", b = 1"#),
        (json!({"formId": "f", "values": {"a": null}}), "Form f: a = null"),
        (json!({"name": "f", "data": {"a": true}}), "Form f: a = true"),
        (json!({"form": {"id": "f", "name": "n"}, "fields": []}), "Form f"),
        (json!({"id": "f", "event": "submitted", "fields": {"a": ""}}), r#"Form f (submitted): a = """#),
        (json!({"id": "f", "submitted": true}), "Form f (submitted)"),
        (json!({"fields": {"a": 1}}), "Form: a = 1"),
        (json!({"form": "f", "field": "a", "value": 1, "event": "changed"}), "Form f (changed): a = 1"),
        (json!({"form": "f", "name": "a", "value": 1}), "Form f: a = 1"),
        (json!({"form": "f", "fields": [["b", 1], ["a", 2]]}), "Form f: b = 1, a = 2"),
        (
            json!({"form": "f", "fields": [{"name": "field_7", "label": "Delivery date", "value": "2026-01-02"}]}),
            r#"Form f: field_7 ("Delivery date") = "2026-01-02""#,
        ),
        (
            json!({"form": "f", "fields": [{"name": "first_name", "label": "First name", "value": "A"}]}),
            r#"Form f: first_name = "A""#,
        ),
        (
            json!({"form": "f", "fields": [
                {"name": "size", "type": "radio", "value": "S", "checked": false},
                {"name": "size", "type": "radio", "value": "M", "checked": true},
                {"name": "gift", "type": "checkbox", "value": "on", "checked": false},
            ]}),
            r#"Form f: size = "M", gift = false"#,
        ),
        (
            json!({"form": "f", "fields": {"a": {"value": 1, "label": "Amount"}}}),
            r#"Form f: a ("Amount") = 1"#,
        ),
        (
            json!({"form": "f", "fields": {"where": {"lat": 1.5, "at": ["x"]}}}),
            r#"Form f: where = {"at":["x"],"lat":1.5}"#,
        ),
        (
            json!({"form": "f", "errors": {"b": "bad", "a": ["worse"]}}),
            r#"Form f; errors: a = ["worse"], b = "bad""#,
        ),
        (
            json!({"form": "f", "errors": [{"field": "a", "message": "bad"}, "all wrong"]}),
            r#"Form f; errors: a = "bad", "all wrong""#,
        ),
        (json!({"form": "f", "error": "bad", "errors": []}), r#"Form f; errors: "bad""#),
        (json!({"form": "a form", "fields": {"x = 1, y": 2}}), r#"Form "a form": "x = 1, y" = 2"#),
        (json!({"other": 1}), "form: other = 1"),
        (json!("text"), r#"form: "text""#),
    ] {
        assert_eq!(one(data.clone()), expected, "{data}");
    }
}

#[test]
fn the_last_state_of_a_form_wins_at_the_place_of_the_last_message() {
    let compressed = compress([
        (
            "form",
            json!({"form": "checkout", "event": "submitted", "fields": {"email": "a@", "qty": 1}, "errors": {"email": "bad"}}),
        ),
        ("form", json!({"form": "search", "fields": {"q": "shoes"}})),
        ("navigation", json!("/checkout")),
        (
            "form",
            json!({"form": "checkout", "event": "changed", "fields": {"email": "a@b.test", "zip": "1"}}),
        ),
        ("form", json!({"form": "checkout", "event": "changed", "fields": [{"name": "zip", "value": "12"}]})),
    ]);
    insta::assert_snapshot!(bullets(&compressed).join("\n"), @r#"
    Form search: q = "shoes"
    Opened /checkout
    Form checkout (changed): email = "a@b.test", qty = 1, zip = "12"
    "#);
    assert_eq!((compressed.receipt().kept, compressed.receipt().merged), (3, 2));
}

#[test]
fn fields_with_equal_names_keep_their_order() {
    let compressed = compress([
        ("form", json!({"form": "f", "fields": [["tag", "a"], ["tag", "b"]]})),
        ("form", json!({"form": "f", "fields": [["tag", "c"], ["tag", "b"], ["tag", "d"]]})),
    ]);
    assert_eq!(bullets(&compressed), [r#"Form f: tag = "c", tag = "b", tag = "d""#]);
}

#[test]
fn forms_without_a_name_are_merged_until_the_next_navigation() {
    let compressed = compress([
        ("form", json!({"fields": {"a": 1}})),
        ("form", json!({"fields": {"b": 2}})),
        ("navigation", json!("/next")),
        ("form", json!({"fields": {"a": 3}})),
    ]);
    assert_eq!(bullets(&compressed), ["Form: a = 1, b = 2", "Opened /next", "Form: a = 3"]);
}
