use fastrand::Rng;
use futures_util::FutureExt;
use futures_util::future::join_all;
use omniassist_core::Text;

use super::Factory;
use super::order::{History, Model, TASKS};
use crate::store::{Branch, Change, ConversationStore, Delete, MemoryStore, Saved, StoredMessage, Window};
use crate::testing::store::case::{alice, message};

#[derive(Debug, Clone)]
enum Call {
    Save(Change),
    Load,
    Delete,
}

/// An answer, without the times in it.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Saved(Saved),
    Loaded(Option<Loaded>),
    /// The number of conversations.
    Deleted(usize),
}

#[derive(Debug, Clone, PartialEq)]
struct Loaded {
    version: u32,
    head: Option<Text>,
    /// The messages with their parents.
    messages: Vec<(Text, Option<Text>)>,
}

/// Checks one history of a conversation.
pub async fn check_conversations<F: Factory<Store: ConversationStore>>(factory: &F, seed: u64) {
    let (store, history) = (factory.create().await, History::new());
    let mut seeds = Rng::with_seed(seed);
    join_all((0..TASKS.0).map(|task| work(&store, task, seeds.fork(), &history))).await;
    let apply = |store: &MemoryStore, call: &Call| {
        let store = store.fork();
        let answer = make(&store, call).now_or_never().unwrap();
        (store, answer)
    };
    let fingerprint = |store: &MemoryStore| {
        let probe = Call::Save(Change { version: Some(u32::MAX), ..Change::default() });
        let see = |call| make(store, &call).now_or_never().unwrap();
        format!("{:?}{:?}", see(Call::Load), see(probe))
    };
    history.check(seed, &MemoryStore::new(), &Model { apply, fingerprint });
}

async fn work<S: ConversationStore>(
    store: &S,
    task: usize,
    mut random: Rng,
    history: &History<Call, Answer>,
) {
    let (mut version, mut known) = (0, Vec::<Text>::new());
    for turn in 0..TASKS.1 {
        let call = match random.u32(..100) {
            0..25 => Call::Load,
            25..28 => Call::Delete,
            chance => {
                // The messages of other tasks are among those that are known, and their versions too.
                let parent = random.choice(&known).cloned();
                let id = if chance < 40 { parent.clone() } else { None };
                let id = id.unwrap_or_else(|| format!("{task}.{turn}").into());
                let saved: StoredMessage = message(&id, parent.as_deref());
                let expected = (chance < 70).then_some(version);
                Call::Save(Change { version: expected, ..Change::messages([saved]) })
            }
        };
        match history.make(call.clone(), make(store, &call)).await {
            Answer::Saved(Saved::Version(new)) => version = new,
            Answer::Loaded(Some(Loaded { version: new, messages, .. })) => {
                version = new;
                known = messages.into_iter().map(|(id, _)| id).collect();
            }
            _ => {}
        }
    }
}

async fn make<S: ConversationStore>(store: &S, call: &Call) -> Answer {
    match call {
        Call::Save(change) => Answer::Saved(store.save(&alice(), "c", change).await.unwrap()),
        Call::Load => {
            let window = Window { branch: Branch::All, ..Window::default() };
            let loaded = store.load(&alice(), "c", &window).await.unwrap();
            Answer::Loaded(loaded.map(|loaded| {
                let messages = loaded.messages.into_iter().map(|message| (message.id, message.parent));
                Loaded { version: loaded.info.version, head: loaded.info.head, messages: messages.collect() }
            }))
        }
        Call::Delete => {
            Answer::Deleted(store.delete(&alice(), Delete::Chat("c")).await.unwrap().conversations)
        }
    }
}
