//! The usage of owners and days.

use std::time::Duration;

use omniassist_core::{Day, Usage};

use super::Factory;
use super::case::{Case, LEASE, alice, bob, is_taken, segment, text};
use crate::Cost;
use crate::store::{
    Appended, Begun, Claim, ConversationStore, Delete, Ending, ModelUsage, NewRun, Page, Retention, RunId,
    RunStore, Scope, SegmentKind, Settled, UsageDay, UsageQuery,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    a_call_is_counted_with_its_segment(factory).await;
    usage_is_listed_in_pages(factory).await;
    usage_stays_until_it_is_deleted(factory).await;
    old_usage_is_swept(factory).await;
}

/// Returns the usage of one call: as many tokens of each kind as its number, and as many billionths.
fn call(model: &str, tokens: u64) -> ModelUsage {
    let mut usage = Usage::default();
    usage.input_tokens = Some(tokens * 10_000);
    usage.output_tokens = Some(tokens * 1_000);
    usage.cached_input_tokens = Some(tokens * 100);
    usage.cache_write_input_tokens = Some(tokens * 10);
    usage.reasoning_tokens = Some(tokens);
    ModelUsage::new(model).call(&usage, Some(Cost::from_nanos(tokens)))
}

async fn usage<F: Factory<Store: RunStore>>(case: &Case<'_, F>, scope: Option<Scope>) -> Vec<UsageDay> {
    let query = UsageQuery::new(scope, Day::MIN..=Day::MAX);
    let listing = case.store.usage(&query, &Page::first(99)).await.unwrap();
    assert_eq!(listing.next, None);
    listing.days
}

/// Returns the sum of a model over the days of Alice: a test may begin before midnight.
async fn sum<F: Factory<Store: RunStore>>(case: &Case<'_, F>, model: &str) -> ModelUsage {
    let mut sum = ModelUsage::new(model);
    for day in usage(case, Some(alice())).await.iter().filter(|day| day.usage.model == *model) {
        sum.add(&day.usage);
    }
    sum
}

/// Begins and ends a run with one call.
async fn spend<F: Factory<Store: RunStore>>(case: &Case<'_, F>, scope: Scope, used: ModelUsage) {
    case.store.beat(case.me, LEASE, 0).await.unwrap();
    let new = NewRun::new(RunId::random(), scope, "spent", case.me);
    let Begun::Started(writer) = case.store.begin(&new).await.unwrap() else { panic!("a new run") };
    let mut last = segment(writer, 2, SegmentKind::End);
    last.used = vec![used];
    assert!(is_taken(case.store.settle(&Settled::new(last, Ending::Finished)).await.unwrap()));
}

/// The calls of a segment are added in its transaction: once if it is sent again, and not if it is refused.
pub async fn a_call_is_counted_with_its_segment<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let mut first = text(writer, 2);
    first.used = vec![call("small", 1), call("large", 2)];
    let (stored, others) = (text(writer, 2), case.begin("d").await);
    for _ in 0..2 {
        assert!(is_taken(case.append(&first).await));
        assert_eq!(case.journal(writer.run).await[1], stored, "usage is no part of the journal");
    }
    assert_eq!(sum(&case, "small").await, call("small", 1));
    let mut second = text(others, 2);
    second.used = vec![call("small", 4)];
    case.append(&second).await;

    let claimed = case.store.claim(writer.run, case.me, Claim::Force).await.unwrap().unwrap();
    let mut stale = text(writer, 4);
    stale.used = vec![call("small", 8)];
    assert_eq!(case.append(&stale).await, Appended::Fenced);
    let mut refused = Settled::new(stale, Ending::Finished);
    assert_eq!(case.store.settle(&refused).await.unwrap(), Appended::Fenced);

    refused.last.writer = claimed.writer;
    refused.last.used = vec![call("small", 16), ModelUsage::new("").call(&Usage::default(), None)];
    refused.last.used[0].runs = 1;
    let mut end = refused;
    for ending in [Ending::Finished, Ending::Finished] {
        end.ending = ending;
        assert!(is_taken(case.store.settle(&end).await.unwrap()));
    }
    let mut expected = call("small", 21);
    (expected.calls, expected.runs) = (3, 1);
    assert_eq!(sum(&case, "small").await, expected);
    assert_eq!(sum(&case, "large").await, call("large", 2));
    assert_eq!(sum(&case, "").await.unpriced_calls, 1);
}

/// Usage is listed by day, owner and model, for one owner or for all, and in pages.
pub async fn usage_is_listed_in_pages<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let dotted = Scope::new("bo.b");
    spend(&case, alice(), call("b", 1)).await;
    spend(&case, alice(), call("a.1", 1)).await;
    spend(&case, dotted.clone(), call("a", 1)).await;
    case.advance(DAY).await;
    spend(&case, alice(), call("b", 1)).await;

    let all = usage(&case, None).await;
    let found: Vec<_> = all.iter().map(|day| (day.owner.as_str(), day.usage.model.as_str())).collect();
    assert_eq!(found, [("alice", "a.1"), ("alice", "b"), ("bo.b", "a"), ("alice", "b")]);
    let (first, second) = (all[0].day, all[3].day);
    assert_eq!(second, first.next());
    assert_eq!(usage(&case, Some(dotted)).await, all[2..3]);
    assert!(usage(&case, Some(bob())).await.is_empty());

    for (days, expected) in
        [(first..=first, &all[..3]), (second..=Day::MAX, &all[3..]), (first..=second, &all)]
    {
        let listing = case.store.usage(&UsageQuery::new(None, days), &Page::first(9)).await.unwrap();
        assert_eq!(listing.days, expected);
    }
    let of_alice: Vec<_> = all.iter().filter(|day| day.owner == *"alice").cloned().collect();
    for (scope, expected) in [(None, &all), (Some(alice()), &of_alice)] {
        let query = UsageQuery::new(scope, Day::MIN..=Day::MAX);
        let (mut page, mut found) = (Page::first(1), Vec::new());
        loop {
            let listing = case.store.usage(&query, &page).await.unwrap();
            assert_eq!(listing.days.len(), 1);
            found.extend(listing.days);
            let Some(next) = listing.next else { break };
            page = Page::at(next, 1);
        }
        assert_eq!(found, *expected);
        let exact = case.store.usage(&query, &Page::first(expected.len())).await.unwrap();
        assert_eq!((exact.days.len(), exact.next), (expected.len(), None));
    }
    for cursor in ["", "1", "1.9.short", "x.1.ab"] {
        let query = UsageQuery::new(None, Day::MIN..=Day::MAX);
        assert!(case.store.usage(&query, &Page::at(cursor, 1)).await.unwrap_err().is_invalid(), "{cursor}");
    }
}

/// The usage of a deleted conversation stays, and that of an owner can be deleted.
pub async fn usage_stays_until_it_is_deleted<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    let case = Case::new(factory).await;
    spend(&case, alice(), call("a", 1)).await;
    spend(&case, bob(), call("a", 2)).await;
    case.store.delete(&alice(), Delete::Everything).await.unwrap();
    assert_eq!(sum(&case, "a").await, call("a", 1));
    case.store.delete_usage(&alice()).await.unwrap();
    assert!(usage(&case, Some(alice())).await.is_empty());
    assert_eq!(usage(&case, None).await.len(), 1);
}

/// The usage of a day is deleted some time after it.
pub async fn old_usage_is_swept<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let policy = Retention { usage: 2 * DAY, ..Retention::default() };
    spend(&case, alice(), call("a", 1)).await;
    spend(&case, alice(), call("b", 1)).await;
    spend(&case, alice(), call("c", 1)).await;
    case.advance(2 * DAY).await;
    spend(&case, bob(), call("a", 1)).await;
    assert_eq!(case.store.sweep(&policy, 9).await.unwrap().usage, 0);
    case.advance(DAY).await;
    assert_eq!(case.store.sweep(&Retention::default(), 9).await.unwrap().usage, 0);
    assert_eq!(case.store.sweep(&policy, 2).await.unwrap().usage, 2);
    assert_eq!(case.store.sweep(&policy, 2).await.unwrap().usage, 1);
    assert_eq!(case.store.sweep(&policy, 2).await.unwrap().usage, 0);
    assert_eq!(usage(&case, None).await.len(), 1);
}
