//! Tests of what front ends read about components: the types and the manifest.

use omniassist_server::component::{Component, ComponentContext, Environment};
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::{Args, Assistant, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Ticked, Totals, get};

/// The sky.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Sky {
    Clear,
    PartlyCloudy,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Day {
    /// The date.
    date: String,
    high_celsius: f64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Weather {
    /// The city.
    city: String,
    sky: Sky,
    days: Vec<Day>,
    note: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Cart {
    articles: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Checkout {
    cents: u64,
    coupon: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Slots {
    times: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema counts")]
struct Choice {
    time: String,
}

async fn checkout(Args(order): Args<Checkout>, _: ComponentContext) -> Result<u64, ToolError> {
    Ok(order.cents + order.coupon.map_or(0, |_| 1))
}

async fn clear(cart: ComponentContext) -> Result<(), ToolError> {
    cart.update_state(|ticked: &mut Ticked| ticked.ticked.clear()).await
}

fn assistant() -> Assistant {
    let cart = Component::new::<Cart>("cart", "Shows the user's cart")
        .state::<Ticked>()
        .server_state::<Totals>()
        .on_action("checkout", checkout)
        .on_action("clear", clear)
        .cli(|cart: &Cart, _| cart.articles.join(", "));
    Assistant::builder(ScriptedProvider::new())
        .tool(Tool::new("now", "The time", async || Ok::<_, ToolError>("noon")))
        .component(
            Component::new::<Weather>("weather-card", "Shows the weather").environment(Environment::Web),
        )
        .component(cart)
        .component(Component::awaiting::<Slots, Choice>("pick-slot", "Lets the user pick a time"))
        .build()
        .unwrap()
}

/// The file is the input of `tests/clients/component-types.test.mjs`. `UPDATE_TYPES=1` writes it.
#[tokio::test]
async fn types_of_components_are_those_that_the_compiler_tests_use() {
    let (status, types) = get(&assistant(), "/types.d.ts").await;
    assert_eq!(status, 200);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/components/types.d.ts");
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(file, &types).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap();
    assert!(types == expected, "not as in {file}: {types}");
}

#[tokio::test]
async fn the_manifest_lists_components_and_their_tools() {
    let (status, manifest) = get(&assistant(), "/manifest.json").await;
    assert_eq!(status, 200);
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let names = |list: &str| -> Vec<&str> {
        manifest[list].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
    };
    assert_eq!(names("components"), ["cart", "pick-slot", "weather-card"]);
    assert_eq!(names("tools"), ["now", "ui_cart", "ui_pick-slot", "ui_weather-card"]);

    let cart = &manifest["components"][0];
    assert_eq!(
        (&cart["tool"], &cart["description"], &cart["environment"], &cart["kind"]),
        (&json!("ui_cart"), &json!("Shows the user's cart"), &json!("universal"), &json!("display"))
    );
    assert!(cart["propsSchema"]["properties"]["articles"].is_object(), "{cart}");
    assert!(cart["propsSchema"]["properties"]["instanceId"].is_null(), "the model's own argument: {cart}");
    assert!(cart["stateSchema"]["properties"]["ticked"].is_object(), "{cart}");
    assert!(cart["serverStateSchema"]["properties"]["paid"].is_object(), "{cart}");
    assert_eq!(cart["outputSchema"], Value::Null);
    let actions = cart["actions"].as_array().unwrap();
    assert_eq!((&actions[0]["name"], &actions[1]["name"]), (&json!("checkout"), &json!("clear")));
    assert_eq!(actions[0]["payloadSchema"]["required"], json!(["cents"]));

    let pick = &manifest["components"][1];
    assert_eq!((&pick["kind"], &pick["actions"]), (&json!("awaiting"), &json!([])));
    assert!(pick["outputSchema"]["properties"]["time"].is_object(), "{pick}");
    assert_eq!(manifest["components"][2]["environment"], "web");
}
