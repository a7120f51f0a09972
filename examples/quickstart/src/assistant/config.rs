//! The settings of the environment. Reading them uses no network and no file.

use std::fmt;
use std::path::PathBuf;

use omniassist_axum::Limits;
use omniassist_axum::seal::SealKeys;
use reqwest::Url;

use super::chats::ChatsAt;

/// The text of `--help`.
pub const HELP: &str = "\
A small back office with an assistant in it, on http://127.0.0.1:3000.

Usage: quickstart [--stateless | --help]

  --stateless           The server stores no chats; each page keeps its own.

Environment:
  PORT                  Port on 127.0.0.1; 0 selects a free one. Default: 3000.
  OMNIASSIST_PROVIDER   openai       OpenAI's Responses API
                        openai-chat  Chat Completions of OpenAI or a compatible server
                        anthropic    Anthropic's Messages API
                        gemini       Google's Gemini API
                        demo         no model: fixed rules show what the page can do
                        Default: the first of openai, anthropic and gemini that has a key; openai-chat for a server
                        on this machine.
  OPENAI_API_KEY        The key. A server on this machine needs none.
  OPENAI_BASE_URL       The URL of the API, with /v1. Default: https://api.openai.com/v1
  ANTHROPIC_API_KEY, GEMINI_API_KEY
                        The keys of Anthropic and Gemini.
  ANTHROPIC_BASE_URL, GEMINI_BASE_URL
                        Their URLs, without a path. Default: https://api.anthropic.com and
                        https://generativelanguage.googleapis.com
  OMNIASSIST_MODEL      The model. Default: gpt-5-mini (openai), gpt-4.1-mini (openai-chat), claude-sonnet-4-6
                        (anthropic), gemini-flash-latest (gemini). A server on this machine: its first model.
  OMNIASSIST_CONSTRAINED_TOOLS
                        1: openai-chat requests tool calls with a JSON schema, for a model whose chat template has no
                        tools. Such a model is small, so it gets no tables, charts and forms. Default: 0.
  OMNIASSIST_DISCOVERY  off: without a key and a URL, do not look for a model server on this machine
                        (127.0.0.1, ports 11434 Ollama, 1234 LM Studio, 8080 llama.cpp). Default: on.
  OMNIASSIST_SHOW_WORK  1: clients of the OpenAI endpoint (/assistant/v1) also receive reasoning and server tool calls.
                        Default: 0.
  QUICKSTART_PLAYGROUND 1: a page for developers at /assistant/playground, for this machine only. Default: 0.
  OMNIASSIST_SEAL_KEYS  The keys that sign tool results and approvals: NAME:SECRET, with 32 random bytes or more in
                        hexadecimal or base64. Separate several keys by commas; the first one signs. Default: a key
                        of this process. After a restart, approvals that still wait must then be asked again.
  QUICKSTART_DB         The SQLite file of the shop; the first start creates it. Default: quickstart.sqlite3
  QUICKSTART_CHATS      The SQLite file of the chats; the first start creates it. Default: assistant.db
                        postgres://…: a PostgreSQL database, which several servers can share
                        off: the same as --stateless.
  QUICKSTART_RUNS       Answers that this server writes at the same time. Default: 4
  RUST_LOG              The log filter. Default: info

Without a key, a URL and a model server, the demo answers.
";

/// The settings of one start.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub port: u16,
    pub database: PathBuf,
    /// `None`: chats are not stored.
    pub chats: Option<ChatsAt>,
    /// The number of runs at the same time.
    pub runs: usize,
    /// `true` if clients of the OpenAI endpoint also receive reasoning and tool calls.
    pub show_work: bool,
    /// `true` if there is a page for developers.
    pub playground: bool,
    /// `None`: the assistant makes a key for this process.
    pub seal_keys: Option<SealKeys>,
    pub source: ModelSource,
}

/// The place of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelSource {
    /// A server from the environment.
    Api(Api),
    /// A model server on this machine, or the demo if there is none.
    Discover { model: Option<String>, constrained_tools: bool },
    /// The demo.
    Demo,
}

impl ModelSource {
    /// Returns `true` if tool calls are requested with a JSON schema.
    pub(crate) fn constrains_tools(&self) -> bool {
        match self {
            Self::Api(api) => api.constrained_tools,
            Self::Discover { constrained_tools, .. } => *constrained_tools,
            Self::Demo => false,
        }
    }
}

/// A server with one of the protocols.
#[derive(Clone, PartialEq)]
pub(crate) struct Api {
    pub protocol: Protocol,
    /// `None`: the default URL of the provider.
    pub base_url: Option<Url>,
    pub key: Option<String>,
    /// `None`: the default of the provider, or the first model that a server on this machine lists.
    pub model: Option<String>,
    /// `true` if tool calls are requested with a JSON schema.
    pub constrained_tools: bool,
}

impl Api {
    /// Returns the base URL if it is on this machine.
    pub(crate) fn loopback(&self) -> Option<&Url> {
        self.base_url.as_ref().filter(|url| is_loopback(url))
    }
}

/// The protocol of a model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Responses,
    ChatCompletions,
    Anthropic,
    Gemini,
}

impl Protocol {
    /// All protocols. The first one that has a key is the default.
    const ALL: [Self; 4] = [Self::Responses, Self::ChatCompletions, Self::Anthropic, Self::Gemini];

    /// Returns the name in `OMNIASSIST_PROVIDER`.
    fn name(self) -> &'static str {
        match self {
            Self::Responses => "openai",
            Self::ChatCompletions => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    fn key_variable(self) -> &'static str {
        match self {
            Self::Responses | Self::ChatCompletions => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    fn base_url_variable(self) -> &'static str {
        match self {
            Self::Responses | Self::ChatCompletions => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::Gemini => "GEMINI_BASE_URL",
        }
    }

    /// Returns the default URL of the API.
    pub(crate) fn default_base_url(self) -> &'static str {
        match self {
            Self::Responses | Self::ChatCompletions => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Returns `true` if the base URL ends in `/v1`, as in OpenAI's SDKs.
    fn has_version_in_url(self) -> bool {
        matches!(self, Self::Responses | Self::ChatCompletions)
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("protocol", &self.protocol)
            .field("base_url", &self.base_url.as_ref().map(Url::as_str))
            .field("key", &self.key.as_ref().map(|_| "[set]"))
            .field("model", &self.model)
            .field("constrained_tools", &self.constrained_tools)
            .finish()
    }
}

/// An error that occurs when a variable has an invalid value. The message names the variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigError {
    variable: &'static str,
    problem: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.variable, self.problem)
    }
}

impl std::error::Error for ConfigError {}

fn wrong(variable: &'static str, problem: impl Into<String>) -> ConfigError {
    ConfigError { variable, problem: problem.into() }
}

impl Config {
    /// Reads the settings. `variable` returns the value of an environment variable; an empty value means none.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let get = |name: &str| {
            variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let port = match get("PORT") {
            None => 3000,
            Some(text) => text
                .parse()
                .map_err(|_| wrong("PORT", format!("`{text}` is not a number from 0 to 65535")))?,
        };
        let discovery = match get("OMNIASSIST_DISCOVERY").as_deref() {
            None | Some("on") => true,
            Some("off") => false,
            Some(other) => return Err(wrong("OMNIASSIST_DISCOVERY", format!("`{other}` is not on or off"))),
        };
        let flag = |name: &'static str| match get(name).as_deref() {
            None | Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(wrong(name, format!("`{other}` is not 0 or 1"))),
        };
        let constrained_tools = flag("OMNIASSIST_CONSTRAINED_TOOLS")?;
        let show_work = flag("OMNIASSIST_SHOW_WORK")?;
        let playground = flag("QUICKSTART_PLAYGROUND")?;
        let seal_keys = get("OMNIASSIST_SEAL_KEYS").map(|keys| SealKeys::parse(&keys)).transpose();
        let seal_keys = seal_keys.map_err(|error| wrong("OMNIASSIST_SEAL_KEYS", error.to_string()))?;
        let database = get("QUICKSTART_DB").unwrap_or_else(|| "quickstart.sqlite3".to_owned()).into();
        let chats = match get("QUICKSTART_CHATS") {
            None => Some(ChatsAt::File("assistant.db".into())),
            Some(word) if word == "off" => None,
            Some(name) => Some(ChatsAt::named(name)),
        };
        let runs = match get("QUICKSTART_RUNS") {
            None => Limits::default().max_runs_per_principal,
            Some(number) => {
                number.parse().map_err(|_| wrong("QUICKSTART_RUNS", format!("`{number}` is not a number")))?
            }
        };
        let model = get("OMNIASSIST_MODEL");
        let openai_url =
            get("OPENAI_BASE_URL").map(|text| base_url(Protocol::Responses, &text)).transpose()?;
        let protocol = match get("OMNIASSIST_PROVIDER").as_deref() {
            Some("demo") => None,
            Some(name) => match Protocol::ALL.into_iter().find(|protocol| protocol.name() == name) {
                Some(protocol) => Some(protocol),
                None => {
                    let names = Protocol::ALL.map(Protocol::name).join(", ");
                    let problem = format!("`{name}` is not one of {names} or demo");
                    return Err(wrong("OMNIASSIST_PROVIDER", problem));
                }
            },
            None if openai_url.as_ref().is_some_and(is_loopback) => Some(Protocol::ChatCompletions),
            None if openai_url.is_some() => Some(Protocol::Responses),
            None => match Protocol::ALL.into_iter().find(|protocol| get(protocol.key_variable()).is_some()) {
                Some(protocol) => Some(protocol),
                None => {
                    let source = if discovery {
                        ModelSource::Discover { model, constrained_tools }
                    } else {
                        ModelSource::Demo
                    };
                    return Ok(Self {
                        port,
                        database,
                        chats,
                        runs,
                        show_work,
                        playground,
                        seal_keys,
                        source,
                    });
                }
            },
        };
        let source = match protocol {
            None => ModelSource::Demo,
            Some(protocol) => {
                let (key_variable, url_variable) = (protocol.key_variable(), protocol.base_url_variable());
                let key = get(key_variable);
                if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
                    return Err(wrong(key_variable, "contains a character that keys cannot have"));
                }
                let base_url = get(url_variable).map(|text| base_url(protocol, &text)).transpose()?;
                if key.is_none() && base_url.is_none() {
                    let problem =
                        format!("is not set; only a server of {url_variable} may work without a key");
                    return Err(wrong(key_variable, problem));
                }
                ModelSource::Api(Api { protocol, base_url, key, model, constrained_tools })
            }
        };
        Ok(Self { port, database, chats, runs, show_work, playground, seal_keys, source })
    }
}

fn base_url(protocol: Protocol, text: &str) -> Result<Url, ConfigError> {
    let wrong = |problem: String| wrong(protocol.base_url_variable(), problem);
    // The message does not repeat the text: people put keys into URLs.
    let url =
        Url::parse(text.trim_end_matches('/')).map_err(|error| wrong(format!("is not a URL ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("must begin with http:// or https://".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        let key_variable = protocol.key_variable();
        return Err(wrong(format!(
            "must not contain a user, a password or a query; the key belongs into {key_variable}"
        )));
    }
    if protocol.has_version_in_url() && !url.path().ends_with("/v1") {
        return Err(wrong("must end with /v1, as in http://127.0.0.1:11434/v1".to_owned()));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::read(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn api(variables: &[(&str, &str)]) -> Api {
        match read(variables).unwrap().source {
            ModelSource::Api(api) => api,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_empty_environment_looks_for_a_server() {
        let config = read(&[("OPENAI_API_KEY", " ")]).unwrap();
        assert_eq!((config.port, config.database.to_str()), (3000, Some("quickstart.sqlite3")));
        assert_eq!(config.source, ModelSource::Discover { model: None, constrained_tools: false });
        assert_eq!(read(&[("OMNIASSIST_DISCOVERY", "off")]).unwrap().source, ModelSource::Demo);
        let demo = [("OMNIASSIST_PROVIDER", "demo"), ("OPENAI_API_KEY", "sk-1"), ("PORT", "0")];
        let config = read(&demo).unwrap();
        assert_eq!((config.port, config.source), (0, ModelSource::Demo));
    }

    #[test]
    fn the_other_providers_have_their_own_variables() {
        let anthropic = api(&[("OMNIASSIST_PROVIDER", "anthropic"), ("ANTHROPIC_API_KEY", "k")]);
        assert_eq!((anthropic.protocol, anthropic.base_url), (Protocol::Anthropic, None));
        let url = "http://127.0.0.1:9";
        let gemini = api(&[("OMNIASSIST_PROVIDER", "gemini"), ("GEMINI_BASE_URL", url)]);
        assert_eq!(gemini.base_url.as_ref().map(Url::as_str), Some("http://127.0.0.1:9/"));
        assert_eq!(api(&[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "g")]).protocol, Protocol::Anthropic);
        assert_eq!(api(&[("GEMINI_API_KEY", "g")]).protocol, Protocol::Gemini);
        let error = read(&[("OMNIASSIST_PROVIDER", "gemini"), ("OPENAI_API_KEY", "k")]).unwrap_err();
        assert!(error.to_string().starts_with("GEMINI_API_KEY: is not set"), "{error}");
    }

    #[test]
    fn a_key_means_openai_and_a_loopback_url_means_chat() {
        let cloud = api(&[("OPENAI_API_KEY", "sk-1")]);
        assert_eq!((cloud.protocol, cloud.base_url, cloud.model), (Protocol::Responses, None, None));
        for url in ["http://127.0.0.1:8081/v1/", "http://localhost:1/v1", "http://[::1]:1/v1"] {
            let local = api(&[("OPENAI_BASE_URL", url)]);
            assert_eq!(
                (local.protocol, local.model, local.key),
                (Protocol::ChatCompletions, None, None),
                "{url}"
            );
        }
        let remote = api(&[("OPENAI_BASE_URL", "https://models.example/v1"), ("OMNIASSIST_MODEL", "m")]);
        assert_eq!((remote.protocol, remote.model.as_deref()), (Protocol::Responses, Some("m")));
        let forced = api(&[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OMNIASSIST_PROVIDER", "openai")]);
        assert_eq!(forced.protocol, Protocol::Responses);
    }

    #[test]
    fn constrained_tools_are_enabled_by_a_variable() {
        let local = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
        assert!(!api(&[local]).constrained_tools);
        assert!(api(&[local, ("OMNIASSIST_CONSTRAINED_TOOLS", "1")]).constrained_tools);
        assert!(!read(&[local]).unwrap().show_work);
        assert!(read(&[local, ("OMNIASSIST_SHOW_WORK", "1")]).unwrap().show_work);
    }

    #[test]
    fn chats_are_stored_unless_a_variable_turns_it_off() {
        let chats = |variables: &[(&str, &str)]| read(variables).unwrap().chats;
        let file = |name: &str| Some(ChatsAt::File(name.into()));
        assert_eq!(chats(&[]), file("assistant.db"));
        assert_eq!(chats(&[("QUICKSTART_CHATS", "other.db")]), file("other.db"));
        let url = "postgres://app:secret@db/chats";
        let place = chats(&[("QUICKSTART_CHATS", url)]).unwrap();
        assert_eq!(
            (&place, place.to_string()),
            (&ChatsAt::Postgres(url.into()), "PostgreSQL at db/chats".into())
        );
        assert_eq!(chats(&[("QUICKSTART_CHATS", "off")]), None);
    }

    #[test]
    fn seal_keys_are_read_and_not_shown() {
        let secret = "0123456789abcdef".repeat(4);
        let keys = format!("new:{secret},old:{secret}");
        let config = read(&[("OMNIASSIST_SEAL_KEYS", &keys)]).unwrap();
        assert_eq!(config.seal_keys.as_ref().map(SealKeys::current_id), Some("new"));
        assert!(!format!("{config:?}").contains(&secret));
        assert!(read(&[("OMNIASSIST_SEAL_KEYS", "")]).unwrap().seal_keys.is_none());
    }

    #[test]
    fn the_error_names_the_variable() {
        for (variable, value) in [
            ("PORT", "65536"),
            ("PORT", "http"),
            ("OMNIASSIST_PROVIDER", "OpenAI"),
            ("OMNIASSIST_DISCOVERY", "no"),
            ("OMNIASSIST_CONSTRAINED_TOOLS", "yes"),
            ("OMNIASSIST_SHOW_WORK", "2"),
            ("OPENAI_BASE_URL", "127.0.0.1:11434/v1"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:11434"),
            ("OPENAI_BASE_URL", "http://me:hunter2@127.0.0.1/v1"),
            ("OPENAI_API_KEY", "sk 1"),
            ("OMNIASSIST_SEAL_KEYS", "hunter2"),
            ("OMNIASSIST_SEAL_KEYS", "k:hunter2"),
        ] {
            let text = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(text.starts_with(variable), "{value}: {text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        let text = read(&[("OMNIASSIST_PROVIDER", "openai")]).unwrap_err().to_string();
        assert!(text.starts_with("OPENAI_API_KEY"), "{text}");
        assert!(!format!("{:?}", api(&[("OPENAI_API_KEY", "sk-1")])).contains("sk-1"));
    }

    #[test]
    fn help_names_every_variable() {
        for name in [
            "PORT",
            "OMNIASSIST_PROVIDER",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OMNIASSIST_MODEL",
            "OMNIASSIST_DISCOVERY",
            "OMNIASSIST_SHOW_WORK",
            "OMNIASSIST_SEAL_KEYS",
            "QUICKSTART_DB",
            "QUICKSTART_CHATS",
        ] {
            assert!(HELP.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
