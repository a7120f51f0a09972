//! Tests that an approval runs its call only once.

use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::core::run::{DueApproval, due_approvals};
use omniassist_server::core::{JsonText, RunRequest};
use omniassist_server::seal::ClaimOutcome::{First, Full, Used};
use omniassist_server::seal::{InMemoryReplayGuard, ReplayGuard, SealClaim};

use super::chat::{Chat, LIFETIME_MS, Shop};
use super::dice::Dice;
use super::keys;
use super::post::Post;

fn claims(request: &RunRequest) -> Vec<SealClaim> {
    let due = due_approvals(request, &Shop);
    let ann = Principal::new("ann");
    due.iter().map(|due| SealClaim::of(due, request.chat_id.as_deref(), &ann).unwrap()).collect()
}

/// Returns an approval of the call `id` that expires 17 seconds after 1970.
fn due(id: &str) -> DueApproval {
    DueApproval {
        call_id: id.into(),
        name: "refund".into(),
        arguments: JsonText::EMPTY_OBJECT,
        message_id: "msg".into(),
        signature: Some("v1.k.17.AAAAAAAAAAAAAAAAAAAAAA".into()),
        is_resumed: false,
    }
}

fn claim(user: &str, id: &str) -> SealClaim {
    SealClaim::of(&due(id), Some("chat"), &Principal::new(user)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_posted_again_is_recognised() {
    let mut dice = Dice::new(20);
    let guard = InMemoryReplayGuard::new();
    let (mut first, mut again) = (0, 0);
    while again < 200 {
        let mut chat =
            Chat::new(&keys(), Some(&format!("chat-{again}")), omniassist_server::Principal::new("ann"));
        chat.ask(&mut dice);
        chat.respond(&mut dice, true);
        let mut post = Post::of(&chat, &mut dice);
        for attempt in 0..2 {
            // The second attempt changes the fields that no seal covers.
            if attempt == 1 {
                post.now_ms += dice.next() % 60_000;
                for part in post.last_parts_mut() {
                    if part["state"] == "approval-responded" {
                        part["approval"]["reason"] = "again".into();
                        part["title"] = "again".into();
                    }
                }
            }
            let request = post.read(&mut dice).unwrap();
            let request = post.verified(request, &post.verifier()).unwrap();
            let claims = claims(&request);
            assert!(!claims.is_empty());
            for claim in claims {
                let lifetime = claim.lifetime(post.now_ms);
                assert!(
                    lifetime > Duration::from_millis(60_000)
                        && lifetime <= Duration::from_millis(LIFETIME_MS + 61_000)
                );
                let is_first = guard.claim(&claim, lifetime).await == First;
                assert_eq!(is_first, attempt == 0);
                first += usize::from(is_first);
                again += usize::from(!is_first);
            }
        }
    }
    println!("replayed approvals: {again} refused, {first} first ones taken");

    assert_eq!(guard.len(), first);
    tokio::time::advance(Duration::from_millis(LIFETIME_MS + 62_000)).await;
    assert_eq!(guard.claim(&claim("ann", "c"), Duration::from_secs(1)).await, First);
    assert_eq!(guard.len(), 1, "expired approvals are removed");
}

#[tokio::test(start_paused = true)]
async fn a_full_record_refuses_its_principal_and_no_other() {
    let guard = InMemoryReplayGuard::with_capacity(2);
    let seconds = Duration::from_secs;
    assert!(guard.is_empty());
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(100)).await, First);
    assert_eq!(guard.claim(&claim("ann", "b"), seconds(10)).await, First);
    assert_eq!(guard.claim(&claim("ann", "c"), seconds(10)).await, Full);
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(10)).await, Used);
    assert_eq!(guard.claim(&claim("bob", "c"), seconds(10)).await, First, "another principal has room");
    // The second expires before the first.
    tokio::time::advance(seconds(11)).await;
    assert_eq!(
        guard.claim(&claim("ann", "c"), seconds(10)).await,
        First,
        "an expired approval frees its place"
    );
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(10)).await, Used, "the first approval is kept");
    tokio::time::advance(seconds(90)).await;
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(10)).await, First);
}

#[tokio::test(start_paused = true)]
async fn users_whose_approvals_have_expired_are_removed_and_no_others() {
    let guard = InMemoryReplayGuard::new();
    let seconds = Duration::from_secs;
    for number in 1..64 {
        assert_eq!(guard.claim(&claim(&format!("user {number}"), "a"), seconds(10)).await, First);
    }
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(100)).await, First);
    assert!(!guard.is_empty());
    tokio::time::advance(seconds(11)).await;
    // The record is searched for such users when it has 64.
    assert_eq!(guard.claim(&claim("bob", "a"), seconds(10)).await, First);
    assert_eq!(guard.len(), 2);
    assert_eq!(guard.claim(&claim("ann", "a"), seconds(10)).await, Used);
}

#[test]
fn a_claim_names_its_call() {
    let one = claim("ann", "a");
    assert_eq!(one.key().len(), 64);
    assert_eq!(one.principal(), Some("ann"));
    assert_eq!(one.lifetime(16_000), Duration::from_secs(61));
    assert_eq!(one.lifetime(18_000), Duration::from_secs(60));
    let of = |due: &DueApproval, chat, user: &Principal| SealClaim::of(due, chat, user).unwrap().key();
    let ann = Principal::new("ann");
    let mut other_signature = due("a");
    other_signature.signature = Some("v1.k.17.BAAAAAAAAAAAAAAAAAAAAA".into());
    assert_eq!(
        of(&other_signature, Some("chat"), &ann),
        one.key(),
        "the key does not depend on the signature"
    );
    let change = |change: &dyn Fn(&mut DueApproval)| {
        let mut due = due("a");
        change(&mut due);
        of(&due, Some("chat"), &ann)
    };
    let keys = std::collections::HashSet::from([
        one.key(),
        of(&due("a"), None, &ann),
        of(&due("a"), Some(""), &ann),
        of(&due("a"), Some("chat"), &Principal::anonymous()),
        change(&|due| due.call_id = "b".into()),
        change(&|due| due.name = "b".into()),
        change(&|due| due.message_id = "b".into()),
        change(&|due| due.arguments = JsonText::NULL),
    ]);
    assert_eq!(keys.len(), 8);
    let mut unsigned = due("a");
    for signature in [None, Some("AAAA".into())] {
        unsigned.signature = signature;
        assert!(SealClaim::of(&unsigned, None, &ann).is_none());
    }
}
