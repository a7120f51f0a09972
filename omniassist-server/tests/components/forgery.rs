//! Forged states of components: twelve classes of a thousand, against runs, actions and the shared state of AG-UI. And legal
//! states, of which none may be refused. The counts are printed with `--nocapture`.

#![allow(clippy::print_stdout, reason = "the tests print their counts")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use omniassist_server::component::{Component, ComponentContext};
use omniassist_server::seal::SealKeys;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Args, Assistant, ToolError};
use serde_json::{Map, Value, json};

use super::{Cart, Pay, Ticked, Totals, chunks, keys, post_to};
use crate::forgery::dice::Dice;

const FORGERIES: usize = 1_000;
const LEGAL: usize = 10_000;
/// The mark of a forgery that deceives the model or an action.
const MARK: &str = "forged-";

/// A state as its client has it.
#[derive(Debug, Clone)]
struct Held {
    user: &'static str,
    chat: &'static str,
    instance: String,
    data: Value,
}

/// An assistant with two components of the same types, what its model was sent last, and how often an action ran.
struct World {
    assistant: Assistant,
    seen: Arc<Mutex<String>>,
    ran: Arc<AtomicUsize>,
    held: Vec<Held>,
    /// The seals of other things.
    seals: Vec<String>,
}

fn component(name: &'static str, ran: &Arc<AtomicUsize>) -> Component {
    let ran = Arc::clone(ran);
    Component::new::<Cart>(name, "Shows the user's cart")
        .state::<Ticked>()
        .server_state::<Totals>()
        .on_action(
            if name == "cart" { "pay" } else { "give" },
            move |Args(order): Args<Pay>, cart: ComponentContext| {
                let ran = Arc::clone(&ran);
                async move {
                    ran.fetch_add(1, Ordering::SeqCst);
                    cart.update_server_state(|totals: &mut Totals| totals.paid += order.cents).await?;
                    Ok::<_, ToolError>(cart.state::<Ticked>().ticked)
                }
            },
        )
}

impl World {
    /// Makes an honest conversation of each user in each chat, with several revisions of its instances.
    async fn new(keys: SealKeys) -> Self {
        let (seen, ran) = (Arc::new(Mutex::new(String::new())), Arc::default());
        let sees = Arc::clone(&seen);
        let model = ScriptedProvider::new().otherwise(move |payload| {
            let sent = format!("{:?}", payload.transcript);
            let shows = sent.contains("Show all") && !sent.contains("instanceId");
            *sees.lock().unwrap() = sent;
            if !shows {
                return text("Fine.");
            }
            let carts = (0..16).map(|_| call("ui_cart", json!({"articles": ["tea"]})));
            let boxes = (0..4).map(|_| call("ui_box", json!({"articles": ["tea"]})));
            carts.chain(boxes).fold(Turn::text("See."), Turn::then)
        });
        let assistant = Assistant::builder(model)
            .component(component("cart", &ran))
            .component(component("box", &ran))
            .seal_keys(keys)
            .build()
            .unwrap();
        let mut world = Self { assistant, seen, ran, held: Vec::new(), seals: Vec::new() };
        for user in ["ada", "eve"] {
            for chat in ["c1", "c2"] {
                world.converse(user, chat).await;
            }
        }
        world
    }

    async fn converse(&mut self, user: &'static str, chat: &'static str) {
        let message = json!({"id": "q", "role": "user", "parts": [{"type": "text", "text": "Show all"}]});
        let body = json!({"id": chat, "messages": [message]});
        let (status, answer) = post_to(&self.assistant, user, "/", &body).await;
        assert_eq!(status, 200, "{answer}");
        let mut shown = Vec::new();
        for chunk in chunks(&answer) {
            if chunk["type"] == "data-ui-state" {
                let instance = chunk["id"].as_str().unwrap().to_owned();
                shown.push(Held { user, chat, instance, data: chunk["data"].clone() });
            } else {
                seals_in(&chunk, &mut self.seals);
            }
        }
        assert_eq!(shown.len(), 20, "{answer}");
        for held in shown {
            let action = action_of(&held.data);
            let acted = self.act(&held, action, json!({"cents": 5})).await;
            let changed = chunks(&acted.1).into_iter().find(|chunk| chunk["type"] == "data-ui-state");
            let later = Held { data: changed.unwrap()["data"].clone(), ..held.clone() };
            self.held.extend([held, later]);
        }
    }

    async fn act(&self, held: &Held, action: &str, payload: Value) -> (u16, String) {
        let mut body = held.data.clone();
        body["chatId"] = held.chat.into();
        body["payload"] = payload;
        post_to(&self.assistant, held.user, &format!("/ui/{}/{action}", held.instance), &body).await
    }

    /// Posts states as data parts of the assistant's message, and returns what the model was sent.
    async fn run(&self, user: &str, chat: &str, states: &[Held]) -> String {
        let state = |held: &Held| json!({"type": "data-ui-state", "id": held.instance, "data": held.data});
        let mut parts = vec![json!({"type": "text", "text": "There."})];
        parts.extend(states.iter().map(state));
        let message = |id: &str| json!({"id": id, "role": "user", "parts": [{"type": "text", "text": "Hi"}]});
        let answer = json!({"id": "a", "role": "assistant", "parts": parts});
        let body = json!({"id": chat, "messages": [message("q"), answer, message("q2")]});
        self.ask(user, "/", &body).await
    }

    /// Posts states as the shared state of AG-UI, and returns what the model was sent.
    async fn share(&self, user: &str, chat: &str, states: &[Held]) -> String {
        let ui: Map<_, _> = states.iter().map(|held| (held.instance.clone(), held.data.clone())).collect();
        let message = json!({"id": "q", "role": "user", "content": "Hi"});
        let body = json!({"threadId": chat, "runId": "r", "messages": [message], "state": {"ui": ui}});
        self.ask(user, "/ag-ui", &body).await
    }

    async fn ask(&self, user: &str, path: &str, body: &Value) -> String {
        self.seen.lock().unwrap().clear();
        let (status, answer) = post_to(&self.assistant, user, path, body).await;
        let seen = self.seen.lock().unwrap().clone();
        assert!(status == 200 && !seen.is_empty(), "{status} {answer}");
        seen
    }

    fn of(&self, dice: &mut Dice, filter: impl Fn(&Held) -> bool) -> Held {
        let held: Vec<_> = self.held.iter().filter(|held| filter(held)).collect();
        (*held[dice.below(held.len())]).clone()
    }
}

fn action_of(data: &Value) -> &'static str {
    if data["component"] == "cart" { "pay" } else { "give" }
}

/// Collects the seals in a chunk.
fn seals_in(value: &Value, seals: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("v1.") => seals.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| seals_in(item, seals)),
        Value::Object(fields) => fields.values().for_each(|field| seals_in(field, seals)),
        _ => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    UserState,
    ServerState,
    Instance,
    Component,
    Rev,
    Principal,
    Chat,
    SealForm,
    Key,
    OtherSeal,
    Payload,
    Action,
}

const CLASSES: [Class; 12] = [
    Class::UserState,
    Class::ServerState,
    Class::Instance,
    Class::Component,
    Class::Rev,
    Class::Principal,
    Class::Chat,
    Class::SealForm,
    Class::Key,
    Class::OtherSeal,
    Class::Payload,
    Class::Action,
];

/// A forgery, and the call of an action with it.
struct Forgery {
    held: Held,
    action: String,
    payload: Value,
}

/// Returns a forgery whose acceptance shows [`MARK`] to the model or in the answer of the action.
fn forge(class: Class, world: &World, foreign: &[Held], dice: &mut Dice, number: usize) -> Forgery {
    let mark = format!("{MARK}{number}");
    let mut held = world.of(dice, |_| true);
    let (user, chat) = (held.user, held.chat);
    held.data["state"] = json!({ "ticked": [mark] });
    let mut action = action_of(&held.data).to_owned();
    let mut payload = json!({"cents": 1});
    match class {
        Class::UserState => {
            held.data["state"] = dice.pick(&[
                json!({ "ticked": mark }),
                json!({ "ticked": ["tea", { "text": mark }] }),
                json!({ "ticked": { "0": mark } }),
                json!({ "ticked": [[mark]] }),
                json!({ "ticked": [mark, number] }),
            ]);
        }
        Class::ServerState => {
            let older = world
                .of(dice, |other| other.instance == held.instance && other.data["rev"] != held.data["rev"]);
            held.data["server"] = dice.pick(&[
                json!({"paid": number + 1_000, "articles": 1}),
                json!({"paid": held.data["server"]["paid"], "articles": number + 2}),
                json!({"paid": held.data["server"]["paid"], "articles": 1, "x": number}),
                json!({"paid": held.data["server"]["paid"]}),
                json!({"paid": "5", "articles": 1}),
                json!({}),
                Value::Null,
                older.data["server"].clone(),
            ]);
        }
        Class::Instance => {
            held.instance = match dice.below(4) {
                0 => format!("cart_{number:013}"),
                1 => format!("{}/", held.instance),
                2 => held.instance.to_uppercase(),
                _ => {
                    let other = |other: &Held| {
                        (other.user, other.chat) == (user, chat)
                            && other.data["component"] == held.data["component"]
                            && other.instance != held.instance
                    };
                    world.of(dice, other).instance
                }
            };
            held.instance = held.instance.replace('/', "%2F");
        }
        Class::Component => {
            let other = if held.data["component"] == "cart" { "box" } else { "cart" };
            held.data["component"] = other.into();
            action = action_of(&held.data).to_owned();
        }
        Class::Rev => {
            let rev = held.data["rev"].as_u64().unwrap();
            let forged = dice.pick(&[u64::MAX, u64::MAX - number as u64, rev + 1, rev + 2 + number as u64]);
            held.data["rev"] = forged.into();
        }
        Class::Principal => held.user = if user == "ada" { "eve" } else { "ada" },
        Class::Chat => {
            held.chat = match chat {
                "c1" => dice.pick(&["c2", "C1", "c1 ", "c11", "c"]),
                _ => dice.pick(&["c1", "C2", "c2 ", "c22", "c"]),
            };
        }
        Class::SealForm => {
            let seal = held.data["seal"].as_str().unwrap().to_owned();
            let (before, mac) = seal.rsplit_once('.').unwrap();
            let forged = match dice.below(9) {
                0 => Value::Null,
                1 => json!(""),
                2 => json!(format!("{seal}=")),
                3 => json!(&seal[..seal.len() - 1 - dice.below(21)]),
                4 => json!(format!("v1.k1.{}.{mac}", 1 + dice.below(9_999_999))),
                5 => json!(format!("v1.k1.00.{mac}")),
                6 => json!(format!("{before}.{mac}{mac}")),
                7 => json!(format!("v2{}", &seal[2..])),
                _ => {
                    let mut letters: Vec<char> = mac.chars().collect();
                    let at = dice.below(letters.len());
                    let other = "ABCabc019-_".chars().filter(|other| *other != letters[at]);
                    letters[at] = dice.pick(&other.collect::<Vec<_>>());
                    json!(format!("{before}.{}", letters.iter().collect::<String>()))
                }
            };
            held.data["seal"] = forged;
        }
        Class::Key => {
            held = dice.pick(foreign);
            held.data["state"] = json!({ "ticked": [mark] });
            action = action_of(&held.data).to_owned();
        }
        Class::OtherSeal => held.data["seal"] = dice.pick(&world.seals).into(),
        Class::Payload => {
            payload = dice.pick(&[
                json!({"cents": -1 - i64::try_from(number).unwrap()}),
                json!({"cents": mark}),
                json!({ "cents": [number] }),
                json!({}),
                json!({"cents": null}),
                json!({"cents": 0.5 + number as f64}),
                json!([number]),
                json!(mark),
                json!({"cents": 1e30}),
            ]);
        }
        Class::Action => {
            let other = if action == "pay" { "give" } else { "pay" };
            action = match dice.below(4) {
                0 => other.to_owned(),
                1 => format!("{action}{number}"),
                2 => format!("ui_cart__{action}"),
                _ => action.to_uppercase(),
            };
        }
    }
    Forgery { held, action, payload }
}

#[tokio::test]
async fn no_forged_state_is_accepted() {
    let started = Instant::now();
    let world = World::new(keys()).await;
    assert!(world.seals.len() >= 20, "there are seals of other things: {}", world.seals.len());
    let other = SealKeys::new("k1", "another secret of at least 32 bytes, too").unwrap();
    let old = SealKeys::new("k0", "a secret of at least 32 bytes for tests").unwrap();
    let mut foreign = World::new(other).await.held;
    foreign.extend(World::new(old).await.held);
    let (mut counts, mut actions, mut runs, mut shares) = (BTreeMap::new(), 0, 0, 0);
    for (seed, class) in (1_u64..).zip(CLASSES) {
        let mut dice = Dice::new(seed);
        let forgeries: Vec<Forgery> =
            (0..FORGERIES).map(|number| forge(class, &world, &foreign, &mut dice, number)).collect();
        for Forgery { held, action, payload } in &forgeries {
            let before = world.ran.load(Ordering::SeqCst);
            let (status, answer) = world.act(held, action, payload.clone()).await;
            // A state that the user may write, but not so, is as good as none.
            let is_accepted = match class {
                Class::UserState => status != 200 || answer.contains(MARK),
                Class::Payload => world.ran.load(Ordering::SeqCst) != before,
                _ => status < 400 || world.ran.load(Ordering::SeqCst) != before,
            };
            assert!(
                !is_accepted,
                "{class:?}: an action accepts {held:?} {action} {payload}: {status} {answer}"
            );
            actions += 1;
        }
        *counts.entry(class).or_insert(0) += forgeries.len();
        // Their states are legal.
        if matches!(class, Class::Payload | Class::Action) {
            continue;
        }
        let mut posts: BTreeMap<_, Vec<Held>> = BTreeMap::new();
        for Forgery { held, .. } in forgeries {
            let held = Held { instance: held.instance.replace("%2F", "/"), ..held };
            posts.entry((held.user, held.chat)).or_default().push(held);
        }
        for ((user, chat), forged) in posts {
            for states in forged.chunks(50) {
                let seen = world.run(user, chat, states).await;
                assert!(!seen.contains(MARK), "{class:?}: a run accepts one of {states:?}: {seen}");
                runs += states.len();
            }
            let mut waiting = forged;
            while !waiting.is_empty() {
                let mut ids = BTreeSet::new();
                let (states, later): (Vec<_>, Vec<_>) =
                    waiting.into_iter().partition(|held| ids.insert(held.instance.clone()));
                let seen = world.share(user, chat, &states).await;
                assert!(!seen.contains(MARK), "{class:?}: AG-UI accepts one of {states:?}: {seen}");
                shares += states.len();
                waiting = later;
            }
        }
    }
    println!(
        "0 accepted of {counts:?}: by {actions} actions, {runs} states in messages and {shares} in the shared state; {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn no_legal_state_is_refused() {
    let started = Instant::now();
    let world = World::new(keys()).await;
    let mut dice = Dice::new(99);
    let (mut number, mut actions) = (0, 0);
    while number < LEGAL {
        let (user, chat) = (dice.pick(&["ada", "eve"]), dice.pick(&["c1", "c2"]));
        let mut states: Vec<Held> = Vec::new();
        while states.len() < 13 {
            let mut held = world.of(&mut dice, |held| (held.user, held.chat) == (user, chat));
            if states.iter().all(|other| other.instance != held.instance) {
                let more =
                    (0..dice.below(3)).map(|_| dice.pick(&["tea", "\u{1f375}", "\"", "\\u0000", "<b>", ""]));
                let ticked: Vec<_> =
                    [format!("legal-{number}.")].into_iter().chain(more.map(String::from)).collect();
                held.data["state"] = json!({ "ticked": ticked });
                number += 1;
                states.push(held);
            }
        }
        let seen = match dice.below(2) {
            0 => world.run(user, chat, &states).await,
            _ => world.share(user, chat, &states).await,
        };
        for held in &states {
            let mark = held.data["state"]["ticked"][0].as_str().unwrap();
            assert!(seen.contains(mark), "refused: {held:?} in {seen}");
        }
        if !dice.one_in(4) {
            continue;
        }
        let held = &states[0];
        let (status, answer) = world.act(held, action_of(&held.data), json!({"cents": 1})).await;
        assert!(status == 200 && answer.contains("legal-"), "refused: {held:?}: {answer}");
        actions += 1;
    }
    println!("0 refused of {number} states by runs and {actions} by actions; {:?}", started.elapsed());
}
