use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{AfsEntry, AfsHistory, AfsModule, StoredInstance, UpdateError};
use crate::store::{Scope, StoreError};

const ROOT: &str = "/modules/";

/// Modules under paths: the history of components, and what else the host mounts. A clone shares the modules.
///
/// The [module](super) lists the paths.
#[derive(Clone, Default)]
pub struct Afs {
    modules: Vec<Arc<dyn AfsModule>>,
    /// That of components, if it is mounted.
    history: Option<AfsHistory>,
}

impl Afs {
    /// Creates one without modules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates one that stores nothing: the state of components travels with the conversation that the client keeps.
    #[must_use]
    pub fn transcript() -> Self {
        Self::new()
    }

    /// Adds a module. It takes the place of an earlier one of its name. Default: none.
    #[must_use]
    pub fn mount(mut self, module: impl AfsModule) -> Self {
        self.modules.retain(|mounted| mounted.name() != module.name());
        if module.name() == "history" {
            self.history = (&module as &dyn Any).downcast_ref::<AfsHistory>().cloned();
        }
        self.modules.push(Arc::new(module));
        self
    }

    /// Returns an entry, or `None` if the owner has none at this path.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, and an [invalid](StoreError::is_invalid) one if no module is mounted there.
    pub async fn read(&self, scope: &Scope, path: &str) -> Result<Option<AfsEntry>, StoreError> {
        let (module, rest) = self.module(path)?;
        Ok(module.read(scope, rest).await?.map(|entry| absolute(module, entry)))
    }

    /// Returns the entries below a path, the oldest first.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read, and an [invalid](StoreError::is_invalid) one if the path has no list or no
    /// module is mounted there.
    pub async fn list(&self, scope: &Scope, path: &str) -> Result<Vec<AfsEntry>, StoreError> {
        let (module, rest) = self.module(path)?;
        let found = module.list(scope, rest.trim_end_matches('/')).await?;
        Ok(found.into_iter().map(|entry| absolute(module, entry)).collect())
    }

    /// Writes an entry, and returns it as it was written.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written, and an [invalid](StoreError::is_invalid) one if the path takes no such
    /// entry or no module is mounted there.
    pub async fn write(&self, scope: &Scope, path: &str, entry: AfsEntry) -> Result<AfsEntry, StoreError> {
        let (module, rest) = self.module(path)?;
        Ok(absolute(module, module.write(scope, rest, entry).await?))
    }

    /// Returns `true` if the state of components is stored.
    pub(crate) fn stores(&self) -> bool {
        self.history().is_some()
    }

    /// Returns an instance as it was last stored. `None` without a history, too.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub(crate) async fn load_instance(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
    ) -> Result<Option<StoredInstance>, StoreError> {
        match self.history() {
            Some(history) => history.load_instance(scope, session, instance).await,
            None => Ok(None),
        }
    }

    /// Changes an instance, so that no change of another server or task is lost. `change` may be called several times.
    ///
    /// # Errors
    ///
    /// Returns the error of `change`, and an error if the instance cannot be stored.
    pub(crate) async fn update_instance<E>(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
        change: &mut (dyn FnMut(Option<StoredInstance>) -> Result<StoredInstance, E> + Send),
    ) -> Result<StoredInstance, UpdateError<E>> {
        match self.history() {
            Some(history) => history.update_instance(scope, session, instance, change).await,
            None => Err(UpdateError::Store(StoreError::invalid("no history is mounted"))),
        }
    }

    fn history(&self) -> Option<&AfsHistory> {
        self.history.as_ref()
    }

    /// Returns the module of a path, and the path below it.
    fn module<'a>(&self, path: &'a str) -> Result<(&dyn AfsModule, &'a str), StoreError> {
        let below = path.strip_prefix(ROOT);
        let found = below.and_then(|below| {
            let (name, rest) = below.split_once('/').unwrap_or((below, ""));
            let module = self.modules.iter().find(|module| module.name() == name)?;
            Some((&**module, rest))
        });
        found.ok_or_else(|| StoreError::invalid(format!("nothing is mounted at {path}")))
    }
}

impl fmt::Debug for Afs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.modules.iter().map(|module| format!("{ROOT}{}/", module.name()))).finish()
    }
}

fn absolute(module: &dyn AfsModule, mut entry: AfsEntry) -> AfsEntry {
    entry.path = format!("{ROOT}{}/{}", module.name(), entry.path).into();
    entry
}
