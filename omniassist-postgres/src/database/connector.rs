use std::borrow::Cow;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::connection::{Connection, Notifications};
use crate::failure::Failure;
use crate::{PostgresOptions, sql};

/// The time after which a silent connection is probed, and the time between two probes.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));

/// Opens connections to one database, and names its schema.
pub(crate) struct Connector {
    config: Config,
    timeout: Duration,
    schema: String,
    begin_soft: String,
    begin_hard: String,
    #[cfg(feature = "__tls")]
    tls: Option<tokio_postgres_rustls::MakeRustlsConnect>,
}

impl Connector {
    /// Reads a URL, or the `key=value` form.
    pub(crate) fn new(url: &str, options: &PostgresOptions) -> Result<Self, Failure> {
        // `tokio-postgres` knows neither, and rustls verifies in any case.
        let url = url
            .replace("sslmode=verify-full", "sslmode=require")
            .replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config =
            url.parse().map_err(|error| Failure::Invalid(format!("the URL: {error}")))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Failure::Invalid("the URL names no host".to_owned()));
        }
        config
            .connect_timeout(options.connect_timeout)
            .keepalives_idle(KEEPALIVE.0)
            .keepalives_interval(KEEPALIVE.1);
        if config.get_application_name().is_none() {
            config.application_name("omniassist");
        }
        let wants_tls = config.get_ssl_mode() == SslMode::Require;
        #[cfg(not(feature = "__tls"))]
        if wants_tls {
            let reason = "the URL demands TLS: enable the feature `tls-aws-lc` or `tls-ring`";
            return Err(Failure::Invalid(reason.to_owned()));
        }
        if !wants_tls && !options.root_certificates.is_empty() {
            let reason = "`root_certificate` needs a URL with `sslmode=require`";
            return Err(Failure::Invalid(reason.to_owned()));
        }
        let schema = options.schema.clone();
        sql::check(&schema)?;
        let soft = if options.soft_writes { "off" } else { "on" };
        Ok(Self {
            config,
            timeout: options.connect_timeout,
            schema,
            begin_soft: begin(soft, options.timeout),
            begin_hard: begin("on", options.timeout),
            #[cfg(feature = "__tls")]
            tls: wants_tls.then(|| super::tls::connector(&options.root_certificates)).transpose()?,
        })
    }

    /// Returns SQL with the schema of this store.
    pub(crate) fn sql(&self, sql: &'static str) -> Cow<'static, str> {
        sql::within(&self.schema, sql)
    }

    /// Returns the name of the schema.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns the beginning of a transaction that a crash of the database may lose.
    pub(super) fn begin_soft(&self) -> &str {
        &self.begin_soft
    }

    /// Returns the beginning of a transaction that is durable once it is committed.
    pub(super) fn begin_hard(&self) -> &str {
        &self.begin_hard
    }

    /// Opens a connection. The notifications that arrive on it are dropped with the receiver.
    pub(crate) async fn open(&self) -> Result<(Connection, Notifications), Failure> {
        let open = async {
            #[cfg(feature = "__tls")]
            if let Some(tls) = &self.tls {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                let cancel = client.cancel_token();
                let tls = tls.clone();
                let cancel = move || Box::pin(async move { cancel.cancel_query(tls).await }) as _;
                return Ok(Connection::start(client, connection, Box::new(cancel)));
            }
            let (client, connection) = self.config.connect(NoTls).await?;
            let cancel = client.cancel_token();
            let cancel = move || Box::pin(async move { cancel.cancel_query(NoTls).await }) as _;
            Ok(Connection::start(client, connection, Box::new(cancel)))
        };
        tokio::time::timeout(self.timeout, open).await.unwrap_or(Err(Failure::TooSlow(self.timeout)))
    }
}

fn begin(synchronous_commit: &str, timeout: Duration) -> String {
    let ms = timeout.as_millis().clamp(1, 1 << 30);
    format!(
        "begin isolation level read committed; set local synchronous_commit = {synchronous_commit}; \
         set local statement_timeout = {ms}; set local idle_in_transaction_session_timeout = {ms}"
    )
}
