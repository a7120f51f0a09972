use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use omniassist_core::Limits;

use crate::Principal;

/// Counts the memory of request bodies that are being received or read, in all and for each named principal.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_principal: HashMap<Principal, usize>,
}

/// The memory of one request body. Dropping it gives the memory back.
#[derive(Debug)]
pub(crate) struct Upload {
    uploads: Arc<Uploads>,
    principal: Principal,
    bytes: usize,
}

/// The limit that a growing body would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UploadsFull {
    OfPrincipal,
    OfAll,
}

impl Uploads {
    /// Begins a body that takes no memory yet.
    pub(crate) fn begin(self: &Arc<Self>, principal: Principal) -> Upload {
        Upload { uploads: Arc::clone(self), principal, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        crate::sync::lock(&self.taken)
    }
}

impl Upload {
    /// Reserves memory, so that the body may take `bytes` in all.
    ///
    /// # Errors
    ///
    /// Returns an error if the principal's bodies, or all bodies, would take more than the limits allow. A principal over its own
    /// limit learns that, also where the server is full.
    pub(crate) fn grow_to(&mut self, bytes: usize, limits: &Limits) -> Result<(), UploadsFull> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let mut taken = self.uploads.lock();
        let named = !self.principal.is_anonymous();
        let own = taken.by_principal.get(&self.principal).copied().unwrap_or(0).saturating_add(more);
        if named && own > limits.max_body_bytes_per_principal {
            return Err(UploadsFull::OfPrincipal);
        }
        let total = taken.total.saturating_add(more);
        if total > limits.max_body_bytes_in_flight {
            return Err(UploadsFull::OfAll);
        }
        taken.total = total;
        if named {
            taken.by_principal.insert(self.principal.clone(), own);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Upload {
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        let mut taken = self.uploads.lock();
        taken.total = taken.total.saturating_sub(self.bytes);
        if let Some(own) = taken.by_principal.get_mut(&self.principal) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                taken.by_principal.remove(&self.principal);
            }
        }
        self.bytes = 0;
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.release();
    }
}
