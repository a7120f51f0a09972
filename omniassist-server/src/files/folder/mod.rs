//! Files in a folder of this machine.

mod store;
mod write;

pub use store::FolderStore;
