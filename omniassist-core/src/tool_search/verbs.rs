//! Groups of verbs with the same meaning.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::leading;
use super::words::stem;

/// The verbs that tools begin with, and further words by which users ask for them. A word may be in several groups.
const GROUPS: &[(&[&str], &[&str])] = &[
    (
        &[
            "create", "add", "new", "make", "open", "insert", "register", "start", "draft", "issue", "raise",
            "write", "generate", "build", "put", "launch", "set",
        ],
        &[
            "need", "want", "like", "leave", "offer", "found", "spin", "setup", "should", "post", "save",
            "begin",
        ],
    ),
    (&["book", "schedule", "reserve", "plan", "arrange", "create"], &[]),
    (
        &["get", "show", "view", "read", "fetch", "look", "check", "display", "retrieve", "describe"],
        &[
            "see",
            "open",
            "detail",
            "what",
            "tell",
            "explain",
            "how",
            "is",
            "does",
            "who",
            "when",
            "where",
            "information",
            "are",
            "about",
            "am",
        ],
    ),
    (
        &["list", "show", "browse", "get", "view"],
        &[
            "all", "every", "see", "which", "overview", "who", "whom", "what", "anything", "any", "have",
            "are", "does", "where",
        ],
    ),
    (&["search", "find", "look", "query", "lookup", "filter", "list", "locate"], &["which", "where"]),
    (
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
            "configure",
            "extend",
        ],
        &["should", "increase", "raise", "lower", "amend", "reword", "make", "move", "let"],
    ),
    (&["update", "close", "reopen", "move", "mark", "complete", "finish", "resolve"], &["done", "over"]),
    (
        &[
            "delete",
            "remove",
            "erase",
            "drop",
            "clear",
            "discard",
            "destroy",
            "purge",
            "empty",
            "wipe",
            "unregister",
        ],
        &["trash", "rid", "take", "end", "longer", "throw", "off", "away", "lift", "lost", "stop", "down"],
    ),
    (
        &["cancel", "abort", "stop", "revoke", "withdraw", "terminate", "undo", "end", "disable", "pause"],
        &["more"],
    ),
    (&["archive", "retire", "store", "hide", "shelve"], &["more"]),
    (
        &["send", "mail", "email", "message", "notify", "forward", "deliver", "text", "post", "remind"],
        &["tell"],
    ),
    (&["assign", "give", "delegate", "allocate", "transfer", "reassign", "hand"], &["responsible"]),
    (
        &["approve", "accept", "confirm", "allow", "grant", "authorise", "authorize", "permit"],
        &["ok", "sign", "let", "approver", "fine"],
    ),
    (&["reject", "decline", "deny", "refuse"], &[]),
    (&["export", "download", "dump", "extract"], &["save", "csv", "spreadsheet", "excel"]),
    (&["import", "upload", "load", "ingest", "put", "attach"], &["bring"]),
    (&["comment", "note", "reply", "remark", "annotate", "write", "create"], &["answer"]),
    (&["share", "invite", "publish"], &["access"]),
    (&["count", "get"], &["many", "number", "total", "statistics", "usage"]),
    (&["refund", "reimburse", "repay"], &["money"]),
    (&["enable", "activate", "disable", "deactivate", "toggle"], &["turn", "switch"]),
    (&["run", "execute", "trigger", "dispatch", "invoke", "launch", "start"], &["begin"]),
    (&["retry", "rerun", "redeliver", "resend", "repeat", "redo"], &["again"]),
    (&["redeem", "apply", "use"], &[]),
    (&["remove", "delete", "leave", "detach", "unassign"], &["unplug"]),
    (&["attach", "connect", "link"], &[]),
    (&["copy", "duplicate", "clone"], &[]),
    (&["restart", "reboot", "reset"], &[]),
    (&["restore", "recover", "revert", "undo", "reopen", "unarchive"], &["back", "bring", "again"]),
    (&["compare", "diff"], &["difference", "differ", "between"]),
    (&["merge", "combine", "join"], &[]),
    (&["verify", "validate", "confirm", "check", "test", "ping"], &["try", "valid", "work"]),
    (&["rotate", "renew", "regenerate", "refresh", "extend"], &["expire"]),
    (&["sync", "synchronize", "refresh"], &["behind"]),
    (&["block", "ban", "mute"], &[]),
    (&["add", "follow", "watch", "star", "subscribe"], &["like"]),
    (&["unfollow", "unwatch", "unsubscribe", "remove"], &["longer", "stop"]),
    (&["lock", "freeze", "protect"], &[]),
    (&["unlock", "unblock", "release"], &[]),
    (&["start", "resume", "continue"], &["boot", "power", "begin"]),
    (&["stop", "pause", "suspend", "halt", "disable"], &["off", "down", "shut"]),
    (&["publish", "release", "announce"], &["public", "live", "online", "everybody", "everyone"]),
    (&["transfer", "move", "migrate"], &["ownership"]),
    (&["pay", "settle"], &[]),
];

/// The leading verbs of tools that a stem of a query may mean.
static SYNONYMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<String, Vec<String>> = HashMap::new();
    for (verbs, words) in GROUPS {
        let verbs: Vec<String> = verbs.iter().map(|verb| stem(verb)).collect();
        for word in verbs.iter().cloned().chain(words.iter().map(|word| stem(word))) {
            let others = verbs.iter().filter(|verb| **verb != word).map(|verb| leading(verb));
            synonyms.entry(word.clone()).or_default().extend(others);
        }
    }
    for of in synonyms.values_mut() {
        of.sort();
        of.dedup();
    }
    synonyms
});

/// Returns the verbs that mean the same as the word with this stem, as [leading] words.
pub(super) fn synonyms(of: &str) -> &'static [String] {
    SYNONYMS.get(of).map(Vec::as_slice).unwrap_or_default()
}
