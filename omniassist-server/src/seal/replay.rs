use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use omniassist_core::Text;
use omniassist_core::run::DueApproval;
use tokio::time::Instant;

use super::binding::{self, Digest, Scope};
use super::token::Token;
use crate::Principal;
use crate::sync::lock;

/// The time that a claim is remembered beyond the life of its approval, since the clocks of two servers differ.
const SKEW: Duration = Duration::from_secs(60);

/// The right to run one approved call, or to run a call again with the answers to its questions, for a [`ReplayGuard`].
///
/// It names the call by chat, principal, message, call id, tool and arguments. All approvals of one call make the same
/// claim. Each time that a call asks its user makes another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealClaim {
    key: Digest,
    principal: Option<Text>,
    expiry: u64,
}

impl SealClaim {
    /// Returns the claim of an answered call. `None` where its signature is not a seal.
    #[must_use]
    pub fn of(approval: &DueApproval, chat: Option<&str>, principal: &Principal) -> Option<Self> {
        let token = Token::parse(approval.signature.as_deref()?)?;
        let (expiry, state) = (token.expiry, approval.is_resumed.then_some(token.mac));
        let scope = Scope { chat, principal: principal.known_id(), message: &approval.message_id };
        let DueApproval { call_id, name, arguments, .. } = approval;
        let key = binding::call_key(scope, call_id, name, arguments, state);
        Some(Self { key, principal: principal.known_id().map(Text::from), expiry })
    }

    /// Returns the name of the call in a store: 64 hexadecimal digits.
    #[must_use]
    pub fn key(&self) -> String {
        self.key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the id of the principal, or `None` for an anonymous one.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    /// Returns the time that a guard must remember the claim: until no approval of the call counts on any server.
    #[must_use]
    pub fn lifetime(&self, now_ms: u64) -> Duration {
        Duration::from_millis(self.expiry.saturating_mul(1000).saturating_sub(now_ms)) + SKEW
    }
}

/// The answer of a [`ReplayGuard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimOutcome {
    /// The claim is new and is remembered now. The call runs.
    First,
    /// The claim was made before. The call does not run.
    Used,
    /// The principal has made too many claims. The call does not run.
    Full,
    /// The record cannot be reached. The call does not run.
    Unknown,
}

/// The future of a [`ClaimOutcome`].
pub type ClaimFuture<'a> = Pin<Box<dyn Future<Output = ClaimOutcome> + Send + 'a>>;

/// A record of answered calls, so that each answer runs its call once.
///
/// A seal proves that the server asked. It stays the same however often it is posted, and only a record tells that its
/// call ran before. The default is [`InMemoryReplayGuard`], the record of one process: after a restart with the same
/// keys, and at another server, an approval counts a second time until it expires. Where servers share their keys, share
/// the record too, in one atomic step: `SET key 1 NX PX lifetime` in Redis, or an insert under a unique key in a
/// database, as in the file `tests/shared_guard.rs` of this crate, which does it with SQLite.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record of used approvals",
    note = "implement `ReplayGuard`, or leave the default, `InMemoryReplayGuard`"
)]
pub trait ReplayGuard: Send + Sync + 'static {
    /// Records a claim for at least this time, and returns [`ClaimOutcome::First`] if it was not recorded before. After 10 s,
    /// the future is dropped, and the outcome counts as [`ClaimOutcome::Unknown`].
    fn claim<'a>(&'a self, claim: &'a SealClaim, lifetime: Duration) -> ClaimFuture<'a>;
}

/// A record of approved calls in the memory of this process.
///
/// It holds up to a number of unexpired claims for each principal, and for all anonymous callers together. A full record
/// refuses new claims of that principal, so that none is forgotten early and no principal takes the room of another.
pub struct InMemoryReplayGuard {
    capacity: usize,
    record: Mutex<Record>,
}

/// The claims of each principal, with the times until which they are remembered.
#[derive(Default)]
struct Record {
    principals: HashMap<Option<Text>, HashMap<Digest, Instant>>,
    /// The number of principals at which those without claims are removed.
    sweep_at: usize,
}

impl InMemoryReplayGuard {
    /// Returns an empty record of at most 10,000 claims for each principal, which take about 1 MB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(10_000)
    }

    /// Returns an empty record of at most this many claims for each principal.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { capacity, record: Mutex::default() }
    }

    /// Returns the number of claims in the record. Expired ones count until a later claim removes them.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.record).principals.values().map(HashMap::len).sum()
    }

    /// Returns `true` if the record is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn claim_now(&self, claim: &SealClaim, lifetime: Duration) -> ClaimOutcome {
        let now = Instant::now();
        let forget = |claims: &mut HashMap<Digest, Instant>| claims.retain(|_, expiry| *expiry > now);
        let mut record = lock(&self.record);
        let Record { principals, sweep_at } = &mut *record;
        if principals.len() >= *sweep_at {
            principals.retain(|_, claims| {
                forget(claims);
                !claims.is_empty()
            });
            *sweep_at = principals.len().saturating_mul(2).max(64);
        }
        let claims = principals.entry(claim.principal.clone()).or_default();
        forget(claims);
        if claims.contains_key(&claim.key) {
            return ClaimOutcome::Used;
        }
        if claims.len() >= self.capacity {
            tracing::error!(capacity = self.capacity, "a principal's record of used approvals is full");
            return ClaimOutcome::Full;
        }
        claims.insert(claim.key, now + lifetime);
        ClaimOutcome::First
    }
}

impl Default for InMemoryReplayGuard {
    /// Returns the record that [`new`](Self::new) returns.
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for InMemoryReplayGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryReplayGuard").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl ReplayGuard for InMemoryReplayGuard {
    fn claim<'a>(&'a self, claim: &'a SealClaim, lifetime: Duration) -> ClaimFuture<'a> {
        let outcome = self.claim_now(claim, lifetime);
        Box::pin(std::future::ready(outcome))
    }
}
