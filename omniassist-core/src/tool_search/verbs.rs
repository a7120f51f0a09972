//! Groups of verbs with the same meaning.

use super::words::stem;

/// Groups of synonyms. A verb may be in several.
const GROUPS: [&[&str]; 21] = [
    &[
        "create", "add", "new", "make", "open", "insert", "register", "start", "draft", "issue", "set",
        "raise", "write",
    ],
    &["book", "schedule", "reserve", "plan", "arrange", "create"],
    &[
        "get", "show", "view", "see", "read", "fetch", "look", "check", "display", "retrieve", "detail",
        "open", "what",
    ],
    &["list", "all", "every", "show", "see", "which", "overview", "browse", "get"],
    &["search", "find", "look", "query", "lookup", "filter", "which", "list", "locate", "where"],
    &[
        "update", "change", "edit", "modify", "set", "rename", "correct", "adjust", "fix", "patch",
        "replace", "switch",
    ],
    &["update", "close", "reopen", "move", "mark", "complete", "finish", "resolve"],
    &["delete", "remove", "erase", "drop", "clear", "discard", "trash", "destroy", "rid", "purge"],
    &["cancel", "abort", "stop", "revoke", "withdraw", "terminate", "undo", "end"],
    &["archive", "retire", "store", "hide", "shelve"],
    &["send", "mail", "email", "message", "notify", "forward", "deliver", "text", "post", "tell", "remind"],
    &["assign", "give", "delegate", "allocate", "transfer", "reassign", "hand", "responsible"],
    &["approve", "accept", "confirm", "allow", "grant", "authorise", "authorize", "ok", "sign"],
    &["reject", "decline", "deny", "refuse"],
    &["export", "download", "dump", "csv", "spreadsheet", "save", "extract", "excel"],
    &["import", "upload", "load", "ingest"],
    &["comment", "note", "reply", "remark", "annotate", "write"],
    &["share", "invite", "publish", "access"],
    &["count", "many", "number", "total", "statistics"],
    &["refund", "reimburse", "repay", "money"],
    &["enable", "activate", "disable", "deactivate", "turn", "switch", "toggle"],
];

/// Returns the stems of the verbs that mean the same as the word with this stem.
pub(super) fn synonyms(of: &str) -> Vec<String> {
    let groups = GROUPS.iter().map(|group| group.iter().map(|verb| stem(verb)).collect::<Vec<_>>());
    let mut found: Vec<_> = groups.filter(|group| group.iter().any(|verb| verb == of)).flatten().collect();
    found.retain(|verb| verb != of);
    found.sort();
    found.dedup();
    found
}
