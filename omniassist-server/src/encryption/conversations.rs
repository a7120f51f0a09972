use super::Encrypted;
use super::encrypted::{TRIES, key_changed};
use crate::one_line;
use crate::store::{
    Change, Conversation, ConversationStore, Delete, Deleted, KeyStore, Listing, NotSaved, Page, Saved,
    Scope, StoreFuture, Window,
};

impl<S: ConversationStore + KeyStore> ConversationStore for Encrypted<S> {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        Box::pin(async move {
            let Some(mut loaded) = self.store.load(scope, chat, window).await? else { return Ok(None) };
            let key = self.keys.open(scope, chat, loaded.info.key.as_ref())?;
            key.open_info(&mut loaded.info)?;
            loaded.messages.iter_mut().try_for_each(|message| key.open_message(message))?;
            Ok(Some(loaded))
        })
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        Box::pin(async move {
            for _ in 0..TRIES {
                let (wrapped, key) = self.key_of_chat(scope, chat).await?;
                let mut sealed = key.seal_change(change)?;
                sealed.key = wrapped;
                match self.store.save(scope, chat, &sealed).await? {
                    Saved::Refused(NotSaved::OtherKey) => {}
                    saved => return Ok(saved),
                }
            }
            Err(key_changed())
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        Box::pin(async move {
            let mut listing = self.store.list(scope, page).await?;
            let mut failed = None;
            for info in &mut listing.conversations {
                let key = self.keys.open(scope, &info.chat, info.key.as_ref());
                if let Err(error) = key.and_then(|key| key.open_info(info)) {
                    (info.title, info.meta, info.key) = (None, None, None);
                    failed = Some(error);
                }
            }
            if let Some(error) = failed {
                let error = one_line::chain(&error);
                tracing::error!(%error, "conversations cannot be decrypted; they are listed without titles");
            }
            Ok(listing)
        })
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        Box::pin(async move {
            let deleted = self.store.delete(scope, what).await?;
            deleted.runs.iter().for_each(|run| self.run_keys.remove(*run));
            Ok(deleted)
        })
    }
}
