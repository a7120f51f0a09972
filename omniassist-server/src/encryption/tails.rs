use std::sync::Arc;

use futures_util::StreamExt;

use super::run_keys::RunKeys;
use crate::store::{TailCache, TailPiece, TailStream};

/// A tail cache whose pieces are encrypted with the keys of their runs.
///
/// A piece of a run whose key is not in memory is dropped: the run is neither driven nor followed here, or its viewers get
/// the text from the journal.
pub(super) struct EncryptedTails {
    pub(super) cache: Arc<dyn TailCache>,
    pub(super) run_keys: Arc<RunKeys>,
}

impl TailCache for EncryptedTails {
    fn push(&self, pieces: &[TailPiece]) -> bool {
        let seal = |piece: &TailPiece| self.run_keys.get(piece.run)?.seal_piece(piece).ok();
        self.cache.push(&pieces.iter().filter_map(seal).collect::<Vec<_>>())
    }

    fn listen(&self) -> TailStream {
        let run_keys = Arc::clone(&self.run_keys);
        let open = move |piece: TailPiece| run_keys.get(piece.run)?.open_piece(piece).ok();
        Box::pin(self.cache.listen().map(move |pieces| pieces.into_iter().filter_map(&open).collect()))
    }
}
