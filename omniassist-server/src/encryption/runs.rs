use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_core::Text;

use super::Encrypted;
use super::blob::OVERHEAD;
use super::encrypted::{TRIES, key_changed};
use super::place::Place;
use super::tails::EncryptedTails;
use crate::one_line;
use crate::store::{
    Appended, Beat, Begun, Claim, Claimed, Durability, InstanceId, KeyOf, KeyStore, NewRun, NotSaved,
    OpenRun, Page, Retention, RunHead, RunId, RunStore, Scope, Segment, SegmentKind, Settled, Signal,
    Signalled, StoreError, StoreFuture, Swept, Tail, TailCache, TailOf, UsageListing, UsageQuery, Wake,
    Which, Writer,
};

/// The number of segments in one read for whose overhead there is room.
const SEGMENTS: usize = 64;

impl<S: RunStore + KeyStore> RunStore for Encrypted<S> {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        Box::pin(async move {
            let writer = Writer { run: new.run, epoch: 1, instance: new.instance };
            let first = Segment::new(writer, 1, SegmentKind::Consequence, new.events, new.first.clone());
            for _ in 0..TRIES {
                let (wrapped, key) = self.key_of_chat(&new.scope, &new.chat).await?;
                let sealed = NewRun {
                    key: wrapped,
                    post: new.post.clone().map(|post| key.post(post)),
                    change: new.change.as_ref().map(|change| key.seal_change(change)).transpose()?,
                    input: key.seal(Place::Input(new.run), &new.input)?,
                    first: key.seal_segment(&first)?.data,
                    ..new.clone()
                };
                return Ok(match self.store.begin(&sealed).await? {
                    Begun::Refused(NotSaved::OtherKey) => continue,
                    Begun::Started(writer) => {
                        self.run_keys.insert(new.run, &key);
                        Begun::Started(writer)
                    }
                    Begun::Repeats(head) => Begun::Repeats(Box::new(self.open_head(*head).await?)),
                    Begun::Busy(head) => Begun::Busy(Box::new(self.open_head(*head).await?)),
                    begun => begun,
                });
            }
            Err(key_changed())
        })
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        Box::pin(async move {
            let mut sealed = Vec::with_capacity(batch.len());
            for segment in batch {
                sealed.push(match self.key_of_run(segment.writer.run).await? {
                    Some(key) => key.seal_segment(segment)?,
                    // The store tells that there is no such run.
                    None => Segment { data: Bytes::new(), ..segment.clone() },
                });
            }
            let answers = self.store.append(&sealed, how).await?;
            for (segment, answer) in batch.iter().zip(&answers) {
                self.forget_unless_taken(segment, *answer);
            }
            Ok(answers)
        })
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        Box::pin(async move {
            let mut found = self.store.read(tails, max_bytes.saturating_add(SEGMENTS * OVERHEAD)).await?;
            for (of, tail) in tails.iter().zip(&mut found) {
                let Some(tail) = tail else { continue };
                match self.open_tail(of.run, tail, max_bytes).await {
                    // Its reader finds that the journal is corrupt. The others are read.
                    Err(error) if tails.len() > 1 && (error.is_missing_key() || error.is_corrupt()) => {
                        let error = one_line::chain(&error);
                        tracing::error!(run_id = %of.run, %error, "a journal cannot be decrypted");
                    }
                    opened => opened?,
                }
            }
            Ok(found)
        })
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        Box::pin(async move {
            let found = match which {
                Which::Post { chat, key } => {
                    let (_, own) = self.key_of_chat(scope, chat).await?;
                    self.store.find(scope, Which::Post { chat, key: &own.post_key(key) }).await?
                }
                which => self.store.find(scope, which).await?,
            };
            match found {
                Some(head) => Ok(Some(self.open_head(head).await?)),
                None => Ok(None),
            }
        })
    }

    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        self.store.open_runs(scope, chats)
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        Box::pin(async move {
            let run = end.last.writer.run;
            let Some(key) = self.key_of_run(run).await? else { return Ok(Appended::Gone) };
            let sealed = Settled {
                last: key.seal_segment(&end.last)?,
                ending: key.seal_ending(run, &end.ending)?,
                change: end.change.as_ref().map(|change| key.seal_change(change)).transpose()?,
                usage: end.usage.clone(),
            };
            let answer = self.store.settle(&sealed).await?;
            self.run_keys.remove(run);
            Ok(answer)
        })
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        Box::pin(async move {
            let found = self.store.key(KeyOf::Run(run)).await?.filter(|found| found.scope == *scope);
            let Some(found) = found else { return Ok(Signalled::Gone) };
            let key = self.keys.open(scope, &found.chat, found.key.as_ref())?;
            let sealed = key.seal_signal(run, signal)?;
            Ok(match self.store.signal(scope, run, &sealed).await? {
                Signalled::Repeats(mut earlier) => {
                    key.open_received(&mut earlier);
                    Signalled::Repeats(earlier)
                }
                signalled => signalled,
            })
        })
    }

    fn watch<'a>(&'a self, runs: &'a [(Scope, RunId)], time: Duration) -> StoreFuture<'a, ()> {
        self.store.watch(runs, time)
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        Box::pin(async move {
            let mut beat = self.store.beat(me, lease, room).await?;
            // One run that cannot be read must not hide the signals of the others.
            for received in &mut beat.signals {
                match self.key_of_run(received.run).await {
                    Ok(Some(key)) => key.open_received(received),
                    _ => received.signal.data = Bytes::new(),
                }
            }
            Ok(beat)
        })
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        Box::pin(async move {
            // First, so that nothing is written for a run that cannot be read.
            let Some(key) = self.key_of_run(run).await? else { return Ok(None) };
            let Some(mut claimed) = self.store.claim(run, me, condition).await? else { return Ok(None) };
            self.run_keys.insert(run, &key);
            claimed.input = key.open_or_empty(Place::Input(run), &claimed.input);
            for question in &mut claimed.head.obligations {
                key.open_question(run, question);
            }
            for received in &mut claimed.signals {
                key.open_received(received);
            }
            Ok(Some(claimed))
        })
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        self.store.usage(query, page)
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        self.store.delete_usage(scope)
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        self.store.sweep(policy, at_most)
    }

    fn hints(&self) -> Option<Arc<dyn Wake>> {
        self.store.hints()
    }

    fn tail_cache(&self) -> Option<Arc<dyn TailCache>> {
        let cache = self.store.tail_cache()?;
        Some(Arc::new(EncryptedTails { cache, run_keys: Arc::clone(&self.run_keys) }))
    }
}

impl<S: KeyStore> Encrypted<S> {
    /// Decrypts the segments of a tail, as many as were asked for.
    async fn open_tail(&self, run: RunId, tail: &mut Tail, max_bytes: usize) -> Result<(), StoreError> {
        if tail.segments.is_empty() {
            return Ok(());
        }
        let Some(key) = self.key_of_run(run).await? else {
            return Err(StoreError::unavailable("the run was deleted meanwhile"));
        };
        tail.segments.iter_mut().try_for_each(|segment| key.open_segment(segment))?;
        let mut left = max_bytes;
        let fitting = tail.segments.iter().enumerate().take_while(|(at, segment)| {
            let fits = *at == 0 || segment.data.len() <= left;
            left = left.saturating_sub(segment.data.len());
            fits
        });
        let fitting = fitting.count();
        tail.segments.truncate(fitting);
        Ok(())
    }

    fn forget_unless_taken(&self, segment: &Segment, answer: Appended) {
        if !matches!(answer, Appended::Taken(_)) {
            self.run_keys.remove(segment.writer.run);
        }
    }
}
