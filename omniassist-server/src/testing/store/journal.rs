//! Journals, and the fence that keeps them whole.

use futures_util::future::{join, join_all};

use super::Factory;
use super::case::{Case, alice, bob, is_taken, segment, text};
use crate::store::{
    Appended, Claim, Durability, Ending, InstanceId, RunId, RunState, RunStore, Segment, SegmentKind, TailOf,
    Writer,
};

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore>>(factory: &F) {
    segments_are_read_as_written(factory).await;
    a_position_is_taken_once(factory).await;
    a_lost_acknowledgement_is_told_from_a_fence(factory).await;
    a_claim_fences_the_earlier_writer(factory).await;
    an_ended_run_takes_no_segment(factory).await;
    a_batch_is_judged_one_by_one(factory).await;
    a_read_is_bounded(factory).await;
    a_journal_has_no_gap_under_take_overs(factory).await;
}

/// Segments come back in order, with all fields and every byte.
pub async fn segments_are_read_as_written<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let written = [text(writer, 2), segment(writer, 3, SegmentKind::Consequence), text(writer, 4)];
    for (segment, how) in written.iter().zip([Durability::Soft, Durability::Hard, Durability::Soft]) {
        let answers = case.store.append(std::slice::from_ref(segment), how).await.unwrap();
        assert!(is_taken(answers[0]));
    }
    assert_eq!(case.journal(writer.run).await[1..], written);
    let tails = case.store.read(&[TailOf::new(alice(), writer.run, 3)], usize::MAX).await.unwrap();
    let tail = tails[0].as_ref().unwrap();
    assert_eq!((tail.segments.as_slice(), tail.head), (&written[2..], 4));
    assert_eq!((tail.state, tail.epoch), (RunState::Running, 1));
}

/// The second segment of a position is refused, and so is a position beyond the next.
pub async fn a_position_is_taken_once<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let stranger = Writer { instance: case.other().await, ..writer };
    assert!(is_taken(case.append(&text(writer, 2)).await));
    assert_eq!(case.append(&text(stranger, 2)).await, Appended::Fenced);
    assert_eq!(case.append(&text(stranger, 3)).await, Appended::Fenced);
    assert_eq!(case.append(&text(writer, 4)).await, Appended::Fenced);
    let unknown = Writer { run: RunId::random(), ..writer };
    assert_eq!(case.append(&text(unknown, 2)).await, Appended::Gone);
    assert_eq!(case.journal(writer.run).await[1..], [text(writer, 2)]);

    let racing: Vec<Writer> =
        (0..8).map(|_| Writer { instance: InstanceId::random(), ..writer }).chain([writer]).collect();
    let segments: Vec<Segment> = racing.iter().map(|writer| text(*writer, 3)).collect();
    let answers = join_all(segments.iter().map(|segment| case.append(segment))).await;
    assert_eq!(answers.iter().filter(|answer| is_taken(**answer)).count(), 1);
    assert!(is_taken(answers[8]));
}

/// A segment that its writer sends again is taken, and stored once.
pub async fn a_lost_acknowledgement_is_told_from_a_fence<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin_and_die("c").await;
    assert!(is_taken(case.append(&text(writer, 2)).await), "a lease that is over fences nobody");
    let other = case.other().await;
    case.store.claim(writer.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert!(is_taken(case.append(&text(writer, 2)).await), "it was stored before the claim");
    assert_eq!(case.append(&text(writer, 3)).await, Appended::Fenced, "the claim has this position");
    assert_eq!(case.journal(writer.run).await.len(), 3);
}

/// No segment of an earlier writer is taken after a claim, at any position.
pub async fn a_claim_fences_the_earlier_writer<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let stale = case.begin("c").await;
    let other = case.other().await;
    let claimed = case.store.claim(stale.run, other, Claim::Force).await.unwrap().unwrap();
    assert_eq!(claimed.writer, Writer { run: stale.run, epoch: 2, instance: other });
    assert_eq!(claimed.head.head, 2);
    let journal = case.journal(stale.run).await;
    assert_eq!((journal[1].kind, journal[1].writer), (SegmentKind::Takeover, claimed.writer));
    for pos in 2..5 {
        assert_eq!(case.append(&text(stale, pos)).await, Appended::Fenced, "position {pos}");
        assert_eq!(case.settle(stale, pos, Ending::Finished).await, Appended::Fenced, "position {pos}");
    }
    assert!(is_taken(case.append(&text(claimed.writer, 3)).await));
    assert_eq!(case.append(&text(Writer { instance: other, ..stale }, 4)).await, Appended::Fenced);
}

/// A run that was settled takes no segment, of its last writer either.
pub async fn an_ended_run_takes_no_segment<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    for (at, ending) in
        [Ending::Finished, Ending::Waiting(Vec::new()), Ending::Released].into_iter().enumerate()
    {
        let writer = case.begin(&at.to_string()).await;
        assert!(is_taken(case.settle(writer, 2, ending.clone()).await));
        assert!(is_taken(case.settle(writer, 2, ending).await), "it is repeated");
        assert_eq!(case.append(&text(writer, 3)).await, Appended::Fenced);
        assert_eq!(case.journal(writer.run).await.len(), 2);
    }
}

/// A refused segment does not affect those of other runs in its batch.
pub async fn a_batch_is_judged_one_by_one<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let (first, second, third) = (case.begin("a").await, case.begin("b").await, case.begin("c").await);
    case.settle(second, 2, Ending::Finished).await;
    let gone = Writer { run: RunId::random(), ..first };
    let batch = [text(first, 2), text(second, 3), text(gone, 2), text(third, 2)];
    let answers = case.store.append(&batch, Durability::Hard).await.unwrap();
    assert!(is_taken(answers[0]) && is_taken(answers[3]));
    assert_eq!(answers[1..3], [Appended::Fenced, Appended::Gone]);
    assert!(case.store.append(&[], Durability::Soft).await.unwrap().is_empty());
    let questions = [third, gone, first].map(|writer| TailOf::new(alice(), writer.run, 1));
    let tails = case.store.read(&questions, usize::MAX).await.unwrap();
    let lengths: Vec<_> = tails.iter().map(|tail| tail.as_ref().map(|tail| tail.segments.len())).collect();
    assert_eq!(lengths, [Some(1), None, Some(1)]);
    assert_eq!(tails[0].as_ref().unwrap().segments, [text(third, 2)]);
    let foreign = case.store.read(&[TailOf::new(bob(), first.run, 0)], usize::MAX).await.unwrap();
    assert_eq!(foreign, [None]);
}

/// A read returns as much data as was asked for, and at least one segment.
pub async fn a_read_is_bounded<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    for pos in 2..6 {
        case.append(&text(writer, pos)).await;
    }
    let length = text(writer, 2).data.len();
    for (max_bytes, count) in [(0, 1), (length, 1), (2 * length - 1, 1), (2 * length, 2), (usize::MAX, 4)] {
        let tails = case.store.read(&[TailOf::new(alice(), writer.run, 1)], max_bytes).await.unwrap();
        let tail = tails[0].as_ref().unwrap();
        assert_eq!((tail.segments.len(), tail.head), (count, 5), "{max_bytes} bytes");
        assert_eq!(tail.segments[0].pos, 2);
    }
}

/// Two instances that take a run from each other leave a journal without a gap, with all that was acknowledged.
pub async fn a_journal_has_no_gap_under_take_overs<F: Factory<Store: RunStore>>(factory: &F) {
    let case = Case::new(factory).await;
    let writer = case.begin("c").await;
    let other = case.other().await;
    let (first, second) =
        join(drive(&case, writer.run, case.me, 5), drive(&case, writer.run, other, 7)).await;
    let journal = case.journal(writer.run).await;
    let mut epoch = 1;
    for (at, segment) in journal.iter().enumerate() {
        assert_eq!(usize::try_from(segment.pos).unwrap(), at + 1);
        let is_mark = segment.kind == SegmentKind::Takeover;
        assert_eq!(segment.writer.epoch, epoch + u32::from(is_mark));
        epoch = segment.writer.epoch;
    }
    assert!(!first.is_empty() && !second.is_empty());
    for segment in first.into_iter().chain(second) {
        assert_eq!(journal[usize::try_from(segment.pos).unwrap() - 1], segment);
    }
}

/// Appends to a run, and claims it by force whenever it is fenced and at each `nth` turn. Returns what was acknowledged.
async fn drive<F: Factory<Store: RunStore>>(
    case: &Case<'_, F>,
    run: RunId,
    me: InstanceId,
    nth: u32,
) -> Vec<Segment> {
    let mut taken = Vec::new();
    let mut held: Option<(Writer, u32)> = None;
    for turn in 1..40 {
        let Some((writer, pos)) = held.filter(|_| turn % nth != 0) else {
            let claimed = case.store.claim(run, me, Claim::Force).await.unwrap().unwrap();
            held = Some((claimed.writer, claimed.head.head + 1));
            continue;
        };
        let next = text(writer, pos);
        held = if is_taken(case.append(&next).await) {
            taken.push(next);
            Some((writer, pos + 1))
        } else {
            None
        };
    }
    taken
}
