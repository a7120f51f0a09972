//! An approval runs its call once.

use std::time::Duration;

use omniassist_server::core::RunRequest;
use omniassist_server::core::run::due_approvals;
use omniassist_server::seal::{InMemoryReplayGuard, ReplayGuard, SealClaim};

use super::chat::{Chat, LIFETIME_MS, Shop};
use super::dice::Dice;
use super::keys;
use super::post::Post;

fn claims(request: &RunRequest) -> Vec<SealClaim> {
    let due = due_approvals(request, &Shop);
    due.iter().map(|due| SealClaim::of(due.signature.as_deref().unwrap()).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_is_posted_again_is_known() {
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
            // Once as it is, once with whatever the client may change without touching what is sealed.
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
                let is_first = guard.claim(claim, lifetime).await;
                assert_eq!(is_first, attempt == 0);
                first += usize::from(is_first);
                again += usize::from(!is_first);
            }
        }
    }
    println!("replayed approvals: {again} refused, {first} first ones taken");

    assert_eq!(guard.len(), first);
    tokio::time::advance(Duration::from_millis(LIFETIME_MS + 62_000)).await;
    let claim = SealClaim::of("v1.k.0.AAAAAAAAAAAAAAAAAAAAAA").unwrap();
    assert!(guard.claim(claim, Duration::from_secs(1)).await);
    assert_eq!(guard.len(), 1, "what is over is forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_full_record_refuses_rather_than_forgets() {
    let guard = InMemoryReplayGuard::with_capacity(2);
    let claim = |letter: char| SealClaim::of(&format!("v1.k.0.AAAAAAAAAAAAAAAAAAAA{letter}A")).unwrap();
    assert!(guard.is_empty());
    assert!(guard.claim(claim('a'), Duration::from_secs(100)).await);
    assert!(guard.claim(claim('b'), Duration::from_secs(10)).await);
    assert!(!guard.claim(claim('c'), Duration::from_secs(10)).await, "no room");
    assert!(!guard.claim(claim('a'), Duration::from_secs(10)).await);
    // The second expires before the first.
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(guard.claim(claim('c'), Duration::from_secs(10)).await, "room again");
    assert!(!guard.claim(claim('a'), Duration::from_secs(10)).await, "and the first is not forgotten");
    tokio::time::advance(Duration::from_secs(90)).await;
    assert!(guard.claim(claim('a'), Duration::from_secs(10)).await);
}

#[test]
fn a_claim_has_one_name() {
    let claim = SealClaim::of("v1.2026-11.17.AAAAAAAAAAAAAAAAAAAAEA").unwrap();
    assert_eq!(claim.key(), "00000000000000000000000000000010");
    assert_eq!(claim.lifetime(16_000), Duration::from_secs(61));
    assert_eq!(claim.lifetime(18_000), Duration::from_secs(60));
    for text in ["", "AAAA", "v2.k.0.AAAAAAAAAAAAAAAAAAAAAA", "v1.k.0.AAAAAAAAAAAAAAAAAAAAAB"] {
        assert!(SealClaim::of(text).is_none(), "{text}");
    }
}
