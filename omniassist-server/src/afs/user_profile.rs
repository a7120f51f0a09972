use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omniassist_core::Text;
use serde_json::{Map, Value};

use super::{AfsEntry, AfsModule};
use crate::BoxError;
use crate::store::{Scope, StoreError, StoreFuture};

type Load = dyn Fn(Scope) -> BoxFuture<'static, Result<Map<String, Value>, StoreError>> + Send + Sync;

/// The host's knowledge of a user: the module `/modules/user-profile/`. It is only read.
///
/// `/modules/user-profile/locale` is the member `locale` of the profile, and a list has all members.
///
/// ```
/// use omniassist_server::store::Scope;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::afs::{Afs, AfsUserProfile};
/// use omniassist_server::{Assistant, RunContext};
/// use serde_json::json;
///
/// let profile = AfsUserProfile::new(async |user: Scope| {
///     Ok::<_, std::io::Error>([("name".to_owned(), json!(user.owner()))].into_iter().collect())
/// });
/// let afs = Afs::new().mount(profile);
/// let prompt = move |run: RunContext| {
///     let afs = afs.clone();
///     async move {
///         let Some(user) = Scope::of(run.principal()) else { return Ok("You help.".to_owned()) };
///         let name = afs.read(&user, "/modules/user-profile/name").await?;
///         Ok::<_, omniassist_server::store::StoreError>(match name {
///             Some(name) => format!("You help {}.", name.content),
///             None => "You help.".to_owned(),
///         })
///     }
/// };
/// Assistant::builder(ScriptedProvider::new()).system_prompt(prompt).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
pub struct AfsUserProfile(Arc<Load>);

impl AfsUserProfile {
    /// Creates the module. The function returns the members of a user's profile, and is called for each read.
    pub fn new<F, Fut, E>(load: F) -> Self
    where
        F: Fn(Scope) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Map<String, Value>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self(Arc::new(move |scope| {
            let loaded = load(scope);
            Box::pin(async move { loaded.await.map_err(StoreError::other) })
        }))
    }
}

impl AfsModule for AfsUserProfile {
    fn name(&self) -> &str {
        "user-profile"
    }

    fn read<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Option<AfsEntry>> {
        Box::pin(async move {
            let mut profile = (self.0)(scope.clone()).await?;
            Ok(match path {
                "" => Some(AfsEntry::new(profile)),
                key => profile.remove(key).map(|value| member(key, value)),
            })
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Vec<AfsEntry>> {
        Box::pin(async move {
            if !path.is_empty() {
                return Ok(Vec::new());
            }
            let profile = (self.0)(scope.clone()).await?;
            Ok(profile.into_iter().map(|(key, value)| member(&key, value)).collect())
        })
    }
}

impl fmt::Debug for AfsUserProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfsUserProfile").finish_non_exhaustive()
    }
}

fn member(key: &str, value: Value) -> AfsEntry {
    let mut entry = AfsEntry::new(value);
    entry.path = Text::from(key);
    entry
}
