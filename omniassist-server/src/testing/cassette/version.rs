/// The version of the file format that this build reads and writes.
pub(super) const VERSION: u64 = 1;
