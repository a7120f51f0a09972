//! The runtime of the work that outlives its request.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::engine::Assistant;
use crate::engine::stores::Stores;

impl Assistant {
    /// Sets the runtime of stored runs, of the lease of this process and of what else outlives its request. The first
    /// call sets it. Without a store, the function is not called. For adapters of frameworks that end the runtime of a request
    /// before the process ends.
    #[doc(hidden)]
    pub fn run_stored_on(&self, runtime: impl FnOnce() -> Option<Handle>) {
        if let Some(stores) = self.stores()
            && stores.runtime.get().is_none()
            && let Some(runtime) = runtime()
        {
            // Another thread may have set it.
            stores.runtime.set(runtime).ok();
        }
    }
}

impl Stores {
    /// Spawns work that outlives its request. What the work spawns is on the same runtime.
    pub(in crate::engine) fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        match self.runtime.get() {
            Some(runtime) => runtime.spawn(work),
            None => tokio::spawn(work),
        }
    }
}
