use std::net::SocketAddr;
use std::time::Duration;

use crate::Users;

/// The settings of a backend from its environment.
#[derive(Debug)]
pub struct Settings {
    /// `TOKENS`: the tokens of the users, as in `ann=token,bo=another`. Default: none.
    pub users: Users,
    /// `LISTEN`: the address of the server. Default: 127.0.0.1:3000.
    pub listen: SocketAddr,
    /// `SHUTDOWN_SECONDS`: the time that running answers get after a stop. Default: 25.
    pub shutdown: Duration,
}

impl Settings {
    /// Reads the environment.
    ///
    /// # Errors
    ///
    /// Fails if a variable has an invalid value.
    pub fn from_env() -> Result<Self, &'static str> {
        Self::read(|name| std::env::var(name).ok())
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, &'static str> {
        let users = Users::parse(&variable("TOKENS").unwrap_or_default());
        let listen = variable("LISTEN").unwrap_or_else(|| "127.0.0.1:3000".to_owned());
        let listen = listen.parse().map_err(|_| "LISTEN is an address and a port")?;
        let seconds = variable("SHUTDOWN_SECONDS").unwrap_or_else(|| "25".to_owned());
        let seconds = seconds.parse().map_err(|_| "SHUTDOWN_SECONDS is a number")?;
        Ok(Self { users, listen, shutdown: Duration::from_secs(seconds) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_from_the_environment() {
        let settings = Settings::read(|_| None).unwrap();
        assert_eq!((settings.listen.port(), settings.shutdown), (3000, Duration::from_secs(25)));
        let only = |name: &'static str, value: &str| {
            let value = value.to_owned();
            Settings::read(move |asked| (asked == name).then(|| value.clone()))
        };
        assert_eq!(only("LISTEN", "127.0.0.1:0").unwrap().listen.port(), 0);
        assert_eq!(only("SHUTDOWN_SECONDS", "2").unwrap().shutdown, Duration::from_secs(2));
        for (name, value) in [("LISTEN", "3000"), ("SHUTDOWN_SECONDS", "soon")] {
            assert!(only(name, value).unwrap_err().starts_with(name));
        }
    }
}
