//! The search of the files of a database for content that its key should hide.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Checks that the texts and results of messages can be read in the files of a folder exactly if they are not encrypted.
/// That they are found in the other cases shows that the search finds them.
pub(crate) fn check(folder: &Path, messages: &[Value], is_encrypted: bool, found: &mut Vec<String>) {
    let parts = messages.iter().filter_map(|message| message["parts"].as_array()).flatten();
    let texts = parts.flat_map(|part| [&part["text"], &part["output"]]).filter_map(Value::as_str);
    let words: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
    let mut readable = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    // The log comes before its database, into which a checkpoint moves the content meanwhile.
    files.sort_unstable_by_key(|file| Reverse(file.file_name()));
    for file in files {
        let bytes = fs::read(file.path()).unwrap();
        let content = String::from_utf8_lossy(&bytes);
        let of_file = words.iter().filter(|word| content.contains(**word));
        readable.extend(of_file.map(|word| format!("{word} in {:?}", file.file_name())));
    }
    if is_encrypted && !readable.is_empty() {
        found.push(format!("an encrypted database has {readable:?}"));
    }
    if !is_encrypted && readable.is_empty() {
        found.push("a database that is not encrypted has no text".to_owned());
    }
}
