//! Groups of nouns with a similar meaning.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::stem;

/// The nouns of business applications and of technical interfaces, with everyday words for them. A noun may be in several
/// groups.
const GROUPS: &[&[&str]] = &[
    &["my", "mine", "myself", "personal", "user", "authenticated"],
    &["company", "firm", "enterprise", "corporation", "business"],
    &["person", "user", "member", "colleague", "employee", "teammate", "account"],
    &["customer", "client", "contact", "buyer"],
    &["machine", "server", "computer", "host", "vm", "runner"],
    &["phone", "laptop", "device", "hardware", "notebook"],
    &["outage", "incident", "downtime", "failure", "disruption"],
    &["alert", "warning", "alarm"],
    &["error", "crash", "exception", "bug", "failure"],
    &["coupon", "voucher", "discount", "promotion"],
    &["tier", "level", "plan", "subscription"],
    &["sponsor", "donor", "donation", "sponsorship", "supporter"],
    &["budget", "spending", "limit", "quota", "cap"],
    &["invoice", "bill", "receipt"],
    &["payment", "money", "charge", "refund", "price", "cost"],
    &["issue", "ticket", "task", "card", "item", "todo", "bug"],
    &["notification", "inbox", "news"],
    &["session", "login", "signin"],
    &["secret", "password", "credential", "passphrase"],
    &["2fa", "mfa", "factor", "authenticator"],
    &["legal", "law", "lawyer", "lawsuit", "court"],
    &["schedule", "rota", "rotation", "shift", "roster"],
    &["holiday", "vacation", "absence", "leave"],
    &["assignment", "homework", "exercise"],
    &["course", "class", "lesson", "training"],
    &["dependency", "library", "package"],
    &["container", "docker", "image"],
    &["kubernetes", "k8s", "cluster"],
    &["database", "postgres", "postgresql", "mysql", "sql"],
    &["storage", "bucket", "object", "s3", "upload"],
    &["volume", "disk", "drive"],
    &["site", "website", "page", "web", "homepage"],
    &["folder", "directory"],
    &["file", "document", "attachment"],
    &["picture", "image", "photo", "screenshot", "logo", "avatar"],
    &["email", "mail", "newsletter"],
    &["comment", "remark", "note", "annotation", "reply"],
    &["discussion", "conversation", "chat", "thread", "message"],
    &["label", "tag", "topic"],
    &["project", "board", "kanban"],
    &["iteration", "sprint"],
    &["milestone", "deadline", "goal"],
    &["experiment", "test", "trial", "variant"],
    &["flag", "toggle", "feature"],
    &["permission", "right", "access", "role"],
    &["rule", "policy", "restriction", "ruleset"],
    &["audit", "history", "trail", "log", "event"],
    &["version", "revision", "release", "history"],
    &["statistic", "metric", "usage", "analytics", "traffic", "number", "count", "view"],
    &["survey", "poll", "questionnaire", "vote"],
    &["variable", "setting", "parameter", "configuration", "option", "preference"],
    &["domain", "dns", "hostname", "zone"],
    &["certificate", "cert", "tls", "ssl", "https"],
    &["backup", "snapshot", "copy"],
    &["workflow", "pipeline", "build", "job", "ci", "run"],
    &["meeting", "appointment", "event", "calendar"],
    &["order", "purchase"],
    &["supplier", "vendor"],
    &["timesheet", "time", "hour"],
    &["reaction", "emoji", "smiley", "thumb"],
    &["star", "favourite", "favorite", "bookmark"],
    &["watch", "follow", "subscribe", "subscription"],
    &["block", "ban", "mute"],
    &["vulnerability", "cve", "advisory", "security"],
    &["dashboard", "chart", "graph", "report"],
    &["deployment", "rollout", "environment", "production", "staging"],
];

static SIMILAR: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut similar: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let group: Vec<String> = group.iter().map(|noun| stem(noun)).collect();
        for noun in &group {
            let others = group.iter().filter(|other| *other != noun).cloned();
            similar.entry(noun.clone()).or_default().extend(others);
        }
    }
    similar
});

/// Returns the stems of the nouns with a meaning similar to that of the word with this stem.
pub(super) fn similar(to: &str) -> &'static [String] {
    SIMILAR.get(to).map(Vec::as_slice).unwrap_or_default()
}
