//! Several stores on one file, as several processes have them.

use futures_util::future::join_all;
use omniassist_server::store::{
    Appended, Claim, Durability, InstanceId, RunStore, Segment, SegmentKind, TailOf,
};
use omniassist_sqlite::SqliteStore;

use crate::folder::{Folder, LEASE, alice, begin};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_moves_between_processes() {
    let folder = Folder::new();
    let path = folder.path();
    let (first, second) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    let writer = begin(&first, InstanceId::random(), "c", "Hello").await;
    let other = InstanceId::random();
    second.beat(other, LEASE, 0).await.unwrap();
    assert_eq!(second.claim(writer.run, other, Claim::IfFree).await.unwrap(), None, "its process lives");
    let claimed = second.claim(writer.run, other, Claim::Force).await.unwrap().unwrap();
    let stale = Segment::new(writer, 3, SegmentKind::Text, 1, "stale");
    assert_eq!(first.append(&[stale], Durability::Hard).await.unwrap(), [Appended::Fenced]);
    let next = Segment::new(claimed.writer, 3, SegmentKind::Text, 1, "next");
    second.append(std::slice::from_ref(&next), Durability::Soft).await.unwrap();
    let tails = first.read(&[TailOf::new(alice(), writer.run, 2)], 1000).await.unwrap();
    assert_eq!(tails[0].as_ref().unwrap().segments, [next]);
}

#[tokio::test]
async fn runs_of_dead_processes_are_free_at_once() {
    let folder = Folder::new();
    let path = folder.path();
    let first = SqliteStore::open(&path).unwrap();
    let writer = begin(&first, InstanceId::random(), "c", "Hello").await;
    let other = InstanceId::random();

    let beside = SqliteStore::open(&path).unwrap();
    assert!(beside.beat(other, LEASE, 9).await.unwrap().free.is_empty());
    drop((first, beside));

    let restarted = SqliteStore::open(&path).unwrap();
    assert_eq!(restarted.beat(other, LEASE, 9).await.unwrap().free, [writer.run]);
    let claimed = restarted.claim(writer.run, other, Claim::IfFree).await.unwrap().unwrap();
    assert_eq!((claimed.head.head, claimed.takeovers), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_are_all_kept() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let me = InstanceId::random();
    let mut writers = Vec::new();
    for chat in 0..40 {
        writers.push(begin(&store, me, &chat.to_string(), "Hello").await);
    }
    for pos in 2..7 {
        let how = if pos % 2 == 0 { Durability::Soft } else { Durability::Hard };
        let segments: Vec<_> = writers
            .iter()
            .map(|writer| [Segment::new(*writer, pos, SegmentKind::Text, pos, "text")])
            .collect();
        let answers = join_all(segments.iter().map(|segment| store.append(segment, how))).await;
        assert!(answers.into_iter().all(|answer| matches!(answer.unwrap()[..], [Appended::Taken(_)])));
    }
    let questions: Vec<_> = writers.iter().map(|writer| TailOf::new(alice(), writer.run, 0)).collect();
    let tails = store.read(&questions, usize::MAX).await.unwrap();
    assert!(tails.iter().all(|tail| tail.as_ref().unwrap().segments.len() == 6));
}
