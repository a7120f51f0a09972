//! The check of the configurations that there are when an assistant is built.

use std::collections::BTreeMap;

use futures_util::FutureExt;
use omniassist_core::Text;

use super::dependencies;
use super::source::ConfiguredAgents;
use crate::Principal;
use crate::agent_config::{AgentConfig, AgentConfigError, AgentFuture, AgentLoader, AgentSummary};
use crate::engine::settings::agent::NamedAgents;

/// The configurations that were read, and `None` for those with an error that the log has.
struct Read(BTreeMap<Text, Option<AgentConfig>>);

impl AgentLoader for Read {
    fn load<'a>(&'a self, id: &'a str, _: &'a Principal) -> AgentFuture<'a, Option<AgentConfig>> {
        let loaded = match self.0.get(id) {
            Some(None) => Err("the agent has an error of its own".into()),
            config => Ok(config.cloned().flatten()),
        };
        Box::pin(std::future::ready(loaded))
    }

    fn list<'a>(&'a self, _: &'a Principal) -> AgentFuture<'a, Vec<AgentSummary>> {
        let good = self.0.iter().filter(|(_, config)| config.is_some());
        let listed = good.map(|(id, _)| AgentSummary::new(id.clone(), "")).collect();
        Box::pin(std::future::ready(Ok(listed)))
    }
}

impl ConfiguredAgents {
    /// Logs the errors of the configurations that can be read now.
    pub(in crate::engine) fn check(&self, code: &NamedAgents) {
        let mut read = BTreeMap::new();
        for config in self.loader.at_build() {
            match config {
                Ok(config) => drop(read.insert(config.id().into(), Some(config))),
                Err(error) => {
                    self.log(None, error.id(), &error);
                    if !error.id().is_empty() {
                        read.insert(error.id().clone(), None);
                    }
                }
            }
        }
        let read = Read(read);
        for (id, config) in &read.0 {
            if config.is_none() || self.is_shadowed(id, code) {
                continue;
            }
            // All futures are ready.
            let parts = dependencies::load(&read, id, &Principal::anonymous(), code).now_or_never();
            let made = parts.unwrap_or(Ok(None)).and_then(|parts| {
                let parts = parts.unwrap_or_default();
                Ok(self.registry.assemble(&parts, code)?)
            });
            if let Err(error) = made
                && let Some(error) = error.downcast_ref::<AgentConfigError>()
            {
                self.log(None, id, error);
            }
        }
    }
}
