use std::collections::BTreeSet;

/// Names that are secret only in a query string, where they contain credentials.
const QUERY_NAMES: [&str; 5] = ["code", "key", "sig", "signature", "ticket"];

/// Suffixes of names without separators: `githubtoken`, `appsecret`.
const SUFFIXES: [&str; 4] = ["token", "tokens", "secret", "secrets"];

/// Returns `true` if a field, a header or a parameter with this name contains a secret: `password`, `X-Api-Key`,
/// `sessionId`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let none = BTreeSet::new();
    Names::default().is_secret(name, [&none, &none], false)
}

/// Decides by name. Names are normalised to lower case, letters and digits.
#[derive(Debug, Default)]
pub(crate) struct Names {
    squashed: String,
    /// The same name, with a space between the words that case, digits and punctuation separate.
    words: String,
    tail: String,
}

impl Names {
    /// Returns `true` if the value of this name is secret. `query` is `true` for parameters of a URL.
    pub(crate) fn is_secret(&mut self, name: &str, listed: [&BTreeSet<String>; 2], query: bool) -> bool {
        // Most names are one word and already normalised.
        if name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return !name.is_empty()
                && (is_secret(name, name, query) || listed.iter().any(|names| names.contains(name)));
        }
        self.read(name);
        !self.squashed.is_empty()
            && (is_secret(&self.squashed, &self.words, query) || self.is_listed(name, listed))
    }

    /// Returns `true` if the list contains the whole name, or the last part of a path such as `user[email]` or
    /// `user.email`.
    fn is_listed(&mut self, name: &str, listed: [&BTreeSet<String>; 2]) -> bool {
        if listed.iter().all(|names| names.is_empty()) {
            return false;
        }
        if listed.iter().any(|names| names.contains(&self.squashed)) {
            return true;
        }
        let tail = name.rsplit(['.', '[', ']', '/', ':']).find(|part| !part.is_empty());
        let Some(tail) = tail.filter(|tail| tail.len() < name.len()) else { return false };
        self.tail.clear();
        squash(tail, &mut self.tail);
        listed.iter().any(|names| names.contains(&self.tail))
    }

    fn read(&mut self, name: &str) {
        self.squashed.clear();
        self.words.clear();
        let mut before: Option<char> = None;
        let mut chars = name.chars().peekable();
        while let Some(char) = chars.next() {
            if !char.is_alphanumeric() {
                before = None;
                continue;
            }
            let starts_word = match before {
                None => true,
                Some(last) if last.is_numeric() != char.is_numeric() => true,
                Some(last) if char.is_uppercase() => {
                    !last.is_uppercase() || chars.peek().is_some_and(|next| next.is_lowercase())
                }
                Some(_) => false,
            };
            if starts_word && !self.words.is_empty() {
                self.words.push(' ');
            }
            before = Some(char);
            push_lowercase(char, &mut self.squashed);
            push_lowercase(char, &mut self.words);
        }
    }
}

/// Normalises a name.
pub(crate) fn squash(name: &str, out: &mut String) {
    name.chars().filter(|char| char.is_alphanumeric()).for_each(|char| push_lowercase(char, out));
}

fn push_lowercase(char: char, out: &mut String) {
    if char.is_ascii() {
        out.push(char.to_ascii_lowercase());
    } else {
        out.extend(char.to_lowercase());
    }
}

fn is_secret(squashed: &str, words: &str, query: bool) -> bool {
    has_secret_word(words)
        || has_stem(squashed)
        || SUFFIXES.iter().any(|suffix| squashed.ends_with(suffix))
        || (query && (QUERY_NAMES.contains(&squashed) || words.ends_with(" signature")))
}

/// Returns `true` for short names, which must be whole words: `pin` is in `card_pin`, and not in `shopping`.
fn has_secret_word(words: &str) -> bool {
    let is_secret = |word: &str| match word.as_bytes().first() {
        Some(b'a') => matches!(word, "auth" | "authorization" | "authorisation"),
        Some(b'b') => word == "bearer",
        Some(b'c') => matches!(word, "cvv" | "cvc" | "csc" | "cvn" | "cookie" | "cookies" | "csrf"),
        Some(b'd') => word == "dbpass",
        Some(b'j') => word == "jwt",
        Some(b'm') => word == "mnemonic",
        Some(b'o') => word == "otp",
        Some(b'p') => {
            matches!(
                word,
                "pin" | "pins" | "pincode" | "pw" | "pwd" | "psw" | "passkey" | "phpsessid" | "parola"
            )
        }
        Some(b's') => matches!(word, "ssn" | "sid" | "sessid" | "secret" | "secrets" | "senha"),
        Some(b't') => matches!(word, "token" | "tokens" | "totp" | "tan"),
        Some(b'u') => word == "userpass",
        Some(b'x') => word == "xsrf",
        _ => false,
    };
    // `pass` is one at the end, or before the words for a repetition: `pass2`, `passConfirmation`.
    let repeats = |word: &&str| {
        matches!(*word, "repeat" | "again")
            || word.starts_with("confirm")
            || word.chars().all(char::is_numeric)
    };
    let mut left = words.split(' ').peekable();
    while let Some(word) = left.next() {
        if is_secret(word) || (word == "pass" && left.peek().is_none_or(repeats)) {
            return true;
        }
    }
    // `cc` alone is a copy of a letter; `cc-number` and similar names denote cards.
    words.starts_with("cc ")
}

/// Returns `true` for long names at any position, because they are often joined with others.
fn has_stem(squashed: &str) -> bool {
    squashed.as_bytes().windows(2).enumerate().any(|(at, pair)| {
        let stems: &[&str] = match pair {
            b"ac" => &["accesskey", "accountkey"],
            b"ap" => &["apikey", "appkey"],
            b"au" => &["authcode"],
            b"ba" => &["backupcode"],
            b"ca" => &["cardnum", "cardcode", "cardexp", "cardcv"],
            b"co" => &["contrasena", "contraseña", "connectionstring"],
            b"cr" => &["credential", "creditcard"],
            b"de" => &["debitcard"],
            b"en" => &["encryptionkey"],
            b"fu" => &["functionskey"],
            b"ke" => &["kennwort"],
            b"ma" => &["masterkey"],
            b"mf" => &["mfacode"],
            b"mo" => &["motdepasse"],
            b"on" => &["onetimecode"],
            b"pa" => &["password", "passwort", "passphrase", "passcode", "passwd"],
            b"pr" => &["privatekey"],
            b"re" => &["recoverycode", "recoveryphrase"],
            b"se" => {
                &["secretkey", "securityanswer", "securitycode", "sessionid", "sessionkey", "seedphrase"]
            }
            b"sh" => &["sharedkey"],
            b"si" => &["signingkey"],
            b"sm" => &["smscode"],
            b"so" => &["socialsecurity"],
            b"su" => &["subscriptionkey"],
            b"ve" => &["verificationcode"],
            b"wa" => &["wachtwoord"],
            b"2f" => &["2facode"],
            [first, _] if *first >= 0xc3 => &["пароль", "密码", "密碼", "パスワード", "비밀번호"],
            _ => return false,
        };
        squashed.get(at..).is_some_and(|rest| stems.iter().any(|stem| rest.starts_with(stem)))
    }) || is_card_name(squashed)
}

/// Returns `true` for the autofill names of cards without separators: `ccnumber`, `cccsc`.
fn is_card_name(squashed: &str) -> bool {
    squashed.strip_prefix("cc").is_some_and(|rest| {
        ["num", "no", "exp", "csc", "cvc", "cvv", "name", "type", "givenname", "familyname", "additionalname"]
            .iter()
            .any(|kind| rest.starts_with(kind))
    })
}

/// Returns `true` if the kind of a field (`type`, `format`) denotes a secret.
pub(crate) fn is_secret_kind(kind: &str) -> bool {
    let mut squashed = String::new();
    squash(kind, &mut squashed);
    matches!(
        squashed.as_str(),
        "password"
            | "passwordfield"
            | "passwordinput"
            | "inputpassword"
            | "newpassword"
            | "currentpassword"
            | "secret"
            | "pin"
            | "otp"
            | "onetimecode"
            | "creditcard"
    )
}

/// Returns `true` if an `autocomplete` attribute denotes a secret. It is a list of tokens (HTML, "Autofill").
pub(crate) fn is_secret_autocomplete(tokens: &str) -> bool {
    tokens.split_ascii_whitespace().any(|token| {
        token.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("cc-"))
            || ["current-password", "new-password", "one-time-code"]
                .iter()
                .any(|secret| token.eq_ignore_ascii_case(secret))
    })
}
