use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::token::{MacBytes, Token};

/// How much longer than an approval is valid it is remembered: the clocks of two servers differ.
const SKEW: Duration = Duration::from_secs(60);

/// What says that an approval was used, for a [`ReplayGuard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SealClaim {
    mac: MacBytes,
    expiry: u64,
}

impl SealClaim {
    /// The claim to what the signature of a verified approval permits. `None` where that is no seal.
    #[must_use]
    pub fn of(signature: &str) -> Option<Self> {
        let token = Token::parse(signature)?;
        Some(Self { mac: token.mac_bytes()?, expiry: token.expiry })
    }

    /// What a store keeps it under: 32 hexadecimal digits.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.mac))
    }

    /// How long it must be remembered: until the approval has expired everywhere.
    #[must_use]
    pub fn lifetime(&self, now_ms: u64) -> Duration {
        Duration::from_millis(self.expiry.saturating_mul(1000).saturating_sub(now_ms)) + SKEW
    }
}

/// What comes of a claim: whether it was the first.
pub type ClaimFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Sees to it that an approval runs its call once.
///
/// A seal proves that the server asked and stays the same however often it is posted; that it was used before, only a
/// record can tell. The default is [`InMemoryReplayGuard`], which knows what one process has seen. Where several servers
/// share the chats, keep the record where they all see it, in one atomic step (`SET key 1 NX PX lifetime` in Redis).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record of used approvals",
    note = "implement `ReplayGuard`, or leave the default, `InMemoryReplayGuard`"
)]
pub trait ReplayGuard: Send + Sync + 'static {
    /// Takes note of the claim for at least this long, and says whether nobody had before. A guard that cannot tell says
    /// `false`: the call then does not run.
    fn claim(&self, claim: SealClaim, lifetime: Duration) -> ClaimFuture<'_>;
}

/// Remembers used approvals in this process.
///
/// It holds what has not expired, up to a number of claims. When it is full of claims that all still count, new ones are
/// refused, so that none is forgotten early.
pub struct InMemoryReplayGuard {
    capacity: usize,
    claims: Mutex<Claims>,
}

#[derive(Default)]
struct Claims {
    used: HashSet<MacBytes>,
    /// In the order in which they came. All live equally long where one assistant asks, so the first expire first.
    expiries: VecDeque<(Instant, MacBytes)>,
}

impl InMemoryReplayGuard {
    /// An empty record of at most 100,000 claims, which take about 8 MB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(100_000)
    }

    /// An empty record of at most this many claims.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { capacity, claims: Mutex::default() }
    }

    /// Claims that are remembered, those included whose time is over and that no later claim has displaced yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner).used.len()
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn claim_now(&self, claim: SealClaim, lifetime: Duration) -> bool {
        let now = Instant::now();
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.forget_front(now);
        if claims.used.contains(&claim.mac) {
            return false;
        }
        if claims.used.len() >= self.capacity {
            claims.forget_all(now);
        }
        if claims.used.len() >= self.capacity {
            tracing::error!(capacity = self.capacity, "no room to remember used approvals: one was refused");
            return false;
        }
        claims.used.insert(claim.mac);
        claims.expiries.push_back((now + lifetime, claim.mac));
        true
    }
}

impl Claims {
    fn forget_front(&mut self, now: Instant) {
        while let Some((expiry, mac)) = self.expiries.front()
            && *expiry <= now
        {
            self.used.remove(mac);
            self.expiries.pop_front();
        }
    }

    fn forget_all(&mut self, now: Instant) {
        let used = &mut self.used;
        self.expiries.retain(|(expiry, mac)| {
            let counts = *expiry > now;
            if !counts {
                used.remove(mac);
            }
            counts
        });
    }
}

impl Default for InMemoryReplayGuard {
    /// As [`new`](Self::new).
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
    fn claim(&self, claim: SealClaim, lifetime: Duration) -> ClaimFuture<'_> {
        let first = self.claim_now(claim, lifetime);
        Box::pin(std::future::ready(first))
    }
}
