use std::time::Duration;

/// The limits of stored files, with their defaults.
///
/// ```
/// use omniassist_server::files::FileLimits;
///
/// let mut limits = FileLimits::default();
/// limits.media_types.push("video/*".to_owned());
/// assert_eq!(limits.max_file_bytes, 64 << 20);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileLimits {
    /// Bytes of one file. Default 64 MiB; one more byte is answered 413 `file_too_large`.
    pub max_file_bytes: u64,
    /// Files of one upload. Default 10; one more is answered 400 `too_many_files`.
    pub max_files_per_upload: usize,
    /// Stored files of one principal; anonymous clients count as one principal. Default 1,000; one more is answered 403
    /// `file_quota_exceeded`.
    pub max_files_per_principal: usize,
    /// Bytes of the stored files of one principal; anonymous clients count as one principal. Default 1 GiB; one more byte
    /// is answered 403 `file_quota_exceeded`.
    pub max_bytes_per_principal: u64,
    /// Requests with uploads of one named principal at the same time. Default 4; one more is answered 429 `too_many_uploads`.
    pub max_uploads_per_principal: usize,
    /// Requests with uploads of all clients at the same time. Default 64; one more is answered 503 `overloaded`.
    pub max_uploads: usize,
    /// Bytes of the stored files that one run sends to its provider, before encoding. A file counts each time that it is
    /// named. The newest files come first. Default 20 MiB; a last message with more is answered 400 `limit_exceeded`.
    /// Providers have limits of their own.
    pub max_run_bytes: usize,
    /// Different stored files that the messages of one run name. The newest come first, and older ones are replaced by a note
    /// for the model. Default 100; a last message with more is answered 400 `limit_exceeded`.
    pub max_files_per_run: usize,
    /// The time for which a file is kept. Default 30 days; `None` keeps files until the host deletes them.
    pub lifetime: Option<Duration>,
    /// The media types that are accepted: `image/png`, `audio/*` for all of a kind, `*/*` for everything. Default: PNG,
    /// JPEG, GIF and WebP images, PDF, audio, plain text, Markdown, CSV and JSON. Another is answered 415
    /// `file_type_not_allowed`.
    pub media_types: Vec<String>,
}

impl Default for FileLimits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        let media_types = [
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/webp",
            "application/pdf",
            "audio/*",
            "text/plain",
            "text/markdown",
            "text/csv",
            "application/json",
        ];
        Self {
            max_file_bytes: 64 * MIB,
            max_files_per_upload: 10,
            max_files_per_principal: 1_000,
            max_bytes_per_principal: 1024 * MIB,
            max_uploads_per_principal: 4,
            max_uploads: 64,
            max_run_bytes: 20 << 20,
            max_files_per_run: 100,
            lifetime: Some(Duration::from_secs(30 * 24 * 60 * 60)),
            media_types: media_types.map(str::to_owned).into(),
        }
    }
}

impl FileLimits {
    /// Returns the bytes of the largest upload that is received before it is refused, with room for the file that is one
    /// too many.
    pub(crate) fn most_bytes_of_upload(&self) -> usize {
        let files = u64::try_from(self.max_files_per_upload).unwrap_or(u64::MAX).saturating_add(1);
        usize::try_from(self.max_file_bytes.saturating_mul(files)).unwrap_or(usize::MAX)
    }

    /// Returns `true` if files of this media type are accepted.
    pub(crate) fn takes(&self, media_type: &str) -> bool {
        self.media_types.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some("*/") => true,
            Some(kind) => media_type.starts_with(kind),
            None => media_type.eq_ignore_ascii_case(pattern),
        })
    }
}
