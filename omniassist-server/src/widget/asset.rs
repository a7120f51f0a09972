/// A module of the widget with its compressed forms.
#[derive(Debug)]
pub(crate) struct Asset {
    /// The name below the folder of the modules.
    pub(crate) name: &'static str,
    /// The hash of the module, as in the attribute `integrity`.
    pub(crate) integrity: &'static str,
    pub(crate) identity: &'static [u8],
    pub(crate) gzip: &'static [u8],
    pub(crate) brotli: &'static [u8],
}
