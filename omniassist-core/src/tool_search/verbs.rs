//! Groups of verbs with the same meaning.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::stem;

/// Groups of synonyms. A verb may be in several.
const GROUPS: [&[&str]; 26] = [
    &[
        "create", "add", "new", "make", "open", "insert", "register", "start", "draft", "issue", "set",
        "raise", "write", "need", "want", "build", "generate", "put", "leave", "offer", "found", "spin",
        "setup", "launch", "should",
    ],
    &["book", "schedule", "reserve", "plan", "arrange", "create"],
    &[
        "get",
        "show",
        "view",
        "see",
        "read",
        "fetch",
        "look",
        "check",
        "display",
        "retrieve",
        "detail",
        "open",
        "what",
        "describe",
        "tell",
        "explain",
        "how",
        "is",
        "status",
        "who",
        "when",
        "information",
        "are",
    ],
    &[
        "list", "all", "every", "show", "see", "which", "overview", "browse", "get", "who", "whom", "what",
        "anything", "any", "have", "are",
    ],
    &["search", "find", "look", "query", "lookup", "filter", "which", "list", "locate", "where"],
    &[
        "update",
        "change",
        "edit",
        "modify",
        "set",
        "rename",
        "correct",
        "adjust",
        "fix",
        "patch",
        "replace",
        "switch",
        "should",
        "configure",
        "extend",
        "increase",
        "raise",
        "lower",
        "amend",
    ],
    &["update", "close", "reopen", "move", "mark", "complete", "finish", "resolve"],
    &[
        "delete",
        "remove",
        "erase",
        "drop",
        "clear",
        "discard",
        "trash",
        "destroy",
        "rid",
        "purge",
        "take",
        "empty",
        "wipe",
        "unregister",
        "end",
        "longer",
    ],
    &["cancel", "abort", "stop", "revoke", "withdraw", "terminate", "undo", "end", "disable", "pause"],
    &["archive", "retire", "store", "hide", "shelve"],
    &["send", "mail", "email", "message", "notify", "forward", "deliver", "text", "post", "tell", "remind"],
    &["assign", "give", "delegate", "allocate", "transfer", "reassign", "hand", "responsible"],
    &[
        "approve",
        "accept",
        "confirm",
        "allow",
        "grant",
        "authorise",
        "authorize",
        "ok",
        "sign",
        "let",
        "permit",
        "approver",
    ],
    &["reject", "decline", "deny", "refuse"],
    &["export", "download", "dump", "csv", "spreadsheet", "save", "extract", "excel"],
    &["import", "upload", "load", "ingest", "put", "attach"],
    &["comment", "note", "reply", "remark", "annotate", "write"],
    &["share", "invite", "publish", "access"],
    &["count", "many", "number", "total", "statistics", "usage"],
    &["refund", "reimburse", "repay", "money"],
    &["enable", "activate", "disable", "deactivate", "turn", "switch", "toggle"],
    &["run", "execute", "trigger", "dispatch", "invoke", "launch", "start"],
    &["retry", "rerun", "redeliver", "resend", "again", "repeat", "redo"],
    &["redeem", "apply", "use"],
    &["remove", "delete", "leave", "detach", "unassign"],
    &["my", "mine", "personal", "user", "authenticated"],
];

/// The stems of the verbs that mean the same as a stem.
static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let group: Vec<String> = group.iter().map(|verb| stem(verb)).collect();
        for verb in &group {
            synonyms
                .entry(verb.clone())
                .or_default()
                .extend(group.iter().filter(|other| *other != verb).cloned());
        }
    }
    for of in synonyms.values_mut() {
        of.sort();
        of.dedup();
    }
    synonyms
});

/// Returns the stems of the verbs that mean the same as the word with this stem.
pub(super) fn synonyms(of: &str) -> &'static [String] {
    SYNONYMS.get(of).map(Vec::as_slice).unwrap_or_default()
}
