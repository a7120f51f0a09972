use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_core::RunRequest;
use omniassist_core::message::Part;

use crate::Principal;
use crate::sync::lock;

/// Counts what clients hold at the same time, such as runs or bytes, in all and for each named principal.
#[derive(Debug, Default)]
pub(crate) struct Quota(Mutex<Totals>);

#[derive(Debug, Default)]
struct Totals {
    total: usize,
    by_principal: HashMap<Principal, usize>,
}

/// The share of one holder. Dropping it gives the share back.
#[derive(Debug)]
pub(crate) struct Share {
    quota: Arc<Quota>,
    principal: Principal,
    amount: usize,
}

/// A share in the extensions of a request, which holds it until the request and its run end.
#[derive(Clone)]
pub(crate) struct Held(Arc<Mutex<Share>>);

impl Held {
    pub(crate) fn insert(share: Share, extensions: &mut Extensions) {
        extensions.insert(Self(Arc::new(Mutex::new(share))));
    }

    /// Releases the memory that a parsed request no longer holds: all of its body except the `data:` URLs of its files.
    pub(crate) fn keep_files(extensions: &mut Extensions, request: &RunRequest) {
        let Some(Self(share)) = extensions.get() else { return };
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let urls = parts.map(|part| match part {
            Part::File(file) if file.url.starts_with("data:") => file.url.len(),
            _ => 0,
        });
        let amount = urls.sum();
        lock(share).shrink_to(amount);
        if amount == 0 {
            extensions.remove::<Self>();
        }
    }
}

/// The limit that a growing share would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuotaFull {
    OfPrincipal,
    OfAll,
}

impl Quota {
    /// Begins a share that holds nothing yet.
    pub(crate) fn begin(self: &Arc<Self>, principal: Principal) -> Share {
        Share { quota: Arc::clone(self), principal, amount: 0 }
    }
}

impl Share {
    /// Grows to `amount`.
    ///
    /// # Errors
    ///
    /// Returns an error if the shares of the principal, or all shares, would pass their limit. The limit of the principal
    /// is checked first, so that its error is precise even if both limits are exceeded.
    pub(crate) fn grow_to(
        &mut self,
        amount: usize,
        most_of_principal: usize,
        most: usize,
    ) -> Result<(), QuotaFull> {
        let more = amount.saturating_sub(self.amount);
        if more == 0 {
            return Ok(());
        }
        let mut held = lock(&self.quota.0);
        let is_named = !self.principal.is_anonymous();
        let own = held.by_principal.get(&self.principal).copied().unwrap_or(0).saturating_add(more);
        if is_named && own > most_of_principal {
            return Err(QuotaFull::OfPrincipal);
        }
        let total = held.total.saturating_add(more);
        if total > most {
            return Err(QuotaFull::OfAll);
        }
        held.total = total;
        if is_named {
            held.by_principal.insert(self.principal.clone(), own);
        }
        self.amount = amount;
        Ok(())
    }

    pub(crate) fn release(&mut self) {
        self.shrink_to(0);
    }

    fn shrink_to(&mut self, amount: usize) {
        let less = self.amount.saturating_sub(amount);
        let mut held = lock(&self.quota.0);
        held.total = held.total.saturating_sub(less);
        if let Some(own) = held.by_principal.get_mut(&self.principal) {
            *own = own.saturating_sub(less);
            if *own == 0 {
                held.by_principal.remove(&self.principal);
            }
        }
        self.amount -= less;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}
