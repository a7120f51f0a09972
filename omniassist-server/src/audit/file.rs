use std::fs::{File, OpenOptions, rename};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{AuditEvent, AuditFuture, AuditSink};
use crate::sync::lock;

/// An [`AuditSink`] that appends each record to a file, as one line of JSON.
///
/// A record is accepted when it was passed to the operating system, so it survives the end of this process, however it
/// ends. [`sync`](Self::sync) waits for the disk too. A record that could not be written whole is removed and written
/// again. The file is written in a thread for blocking work. No other process may write to the file.
#[derive(Debug)]
#[must_use = "a file does nothing until it is given to an audit log"]
pub struct JsonLinesFile {
    log: Arc<Mutex<Log>>,
}

#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// `None` after a failure to open the file, which is repeated with the next record.
    file: Option<(File, u64)>,
    /// The length at which a new file begins, and the number of older files.
    rotation: Option<(u64, u32)>,
    sync: bool,
}

impl JsonLinesFile {
    /// Opens a file, or creates it. If its last line is incomplete, it is completed with a line feed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created or read, for example because its folder does not exist.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let file = Some(open(&path)?);
        Ok(Self { log: Arc::new(Mutex::new(Log { path, file, rotation: None, sync: false })) })
    }

    /// Sets the length at which a new file begins, and the number of older files that are kept. The older files are named
    /// `audit.jsonl.1`, `audit.jsonl.2` and so on, from the newest to the oldest; the oldest is deleted. A record is never
    /// split. With 0 older files, the length is not limited. Default: the length is not limited.
    pub fn rotate(self, max_bytes: u64, older_files: u32) -> Self {
        lock(&self.log).rotation = (older_files > 0).then_some((max_bytes, older_files));
        self
    }

    /// Sets whether a record is accepted only when it is on the disk (`fdatasync`), so that it survives a power failure.
    /// Default: `false`.
    pub fn sync(self, sync: bool) -> Self {
        lock(&self.log).sync = sync;
        self
    }
}

impl AuditSink for JsonLinesFile {
    fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a> {
        Box::pin(async move {
            let lines = events.iter().map(line).collect::<Result<Vec<_>, _>>()?;
            let log = Arc::clone(&self.log);
            tokio::task::spawn_blocking(move || lock(&log).write(&lines)).await??;
            Ok(())
        })
    }
}

fn line(event: &AuditEvent) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    Ok(line)
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut length = file.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
        length += 1;
    }
    Ok((file, length))
}

/// Joins the lines that a file of this length has room for, and returns their number. A line that is longer than
/// `max_bytes` has its own file.
fn take_lines(lines: &[Vec<u8>], length: u64, max_bytes: u64) -> (Vec<u8>, usize) {
    let mut bytes = Vec::new();
    for (count, line) in lines.iter().enumerate() {
        let after = length + (bytes.len() + line.len()) as u64;
        let is_first = length == 0 && count == 0;
        if after > max_bytes && !is_first {
            return (bytes, count);
        }
        bytes.extend_from_slice(line);
    }
    (bytes, lines.len())
}

impl Log {
    /// Appends lines. Those that are written when an error occurs may be written again.
    fn write(&mut self, lines: &[Vec<u8>]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            let (file, length) = match &mut self.file {
                Some(open) => open,
                none => none.insert(open(&self.path)?),
            };
            let max_bytes = self.rotation.map_or(u64::MAX, |(max_bytes, _)| max_bytes);
            let (bytes, count) = take_lines(rest, *length, max_bytes);
            if count == 0 {
                self.rotate()?;
                continue;
            }
            if let Err(error) = file.write_all(&bytes) {
                // Otherwise, the repetition would follow an incomplete line.
                let _ = file.set_len(*length);
                return Err(error);
            }
            *length += bytes.len() as u64;
            if self.sync {
                file.sync_data()?;
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    /// Renames the files to their next names. The next record begins a new file.
    fn rotate(&mut self) -> io::Result<()> {
        self.file = None;
        let (_, older_files) = self.rotation.unwrap_or_default();
        let name = |number: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        // Files beyond a free name stay: a repetition after a failed rename would otherwise delete one each time.
        let free = (1..older_files).find(|number| !name(*number).exists()).unwrap_or(older_files);
        for number in (1..free).rev() {
            rename(name(number), name(number + 1))?;
        }
        rename(&self.path, name(1))
    }
}
