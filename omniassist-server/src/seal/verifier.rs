use omniassist_core::message::{Approval, Part, ProviderMetadata, ToolPart, ToolState, own_entries};
use omniassist_core::{Claim, HistoryPart, ToolSide, Verdict, Verifier};

use super::binding::{self, Call, Scope, Sealed, state_digest, text_digest};
use super::keys::SealKeys;
use super::token::Token;

/// A verifier of posted history that checks seals. See the [module](super).
#[derive(Debug, Clone)]
pub struct SealVerifier {
    keys: SealKeys,
    refuses_unsealed_text: bool,
}

impl SealVerifier {
    /// Creates a verifier with these keys.
    #[must_use]
    pub fn new(keys: SealKeys) -> Self {
        Self { keys, refuses_unsealed_text: false }
    }

    /// Sets whether a request is refused if text or reasoning of the assistant has no valid seal. Default: `false`: the
    /// text counts as the assistant's, and the provider's state with it is dropped.
    ///
    /// An answer that was stopped before its end, or made under a lost key, has no such seal either. The client has to
    /// remove it before the chat can continue. The setting does not apply to formats that carry no seals (the OpenAI
    /// endpoint), whose text is always unproved. It does not apply to messages of a
    /// [history loader](crate::AssistantBuilder::history_loader) either, whose text is the host's.
    #[must_use]
    pub fn refuse_unsealed_text(mut self, refuse: bool) -> Self {
        self.refuses_unsealed_text = refuse;
        self
    }

    /// Judges a seal by the first of these claims that it proves.
    fn judge(&self, seal: Option<&str>, part: &HistoryPart<'_>, claims: &[Option<Sealed<'_>>]) -> Judgement {
        let Some(token) = seal.and_then(Token::parse) else { return Judgement::Nothing };
        let Some(mac) = self.keys.mac(token.key) else { return Judgement::Nothing };
        let scope = Scope { chat: part.chat_id, principal: part.poster.principal, message: &part.message.id };
        let proved = |sealed: &Sealed<'_>| binding::proves(&token, mac, scope, *sealed);
        match claims.iter().position(|sealed| sealed.as_ref().is_some_and(proved)) {
            None => Judgement::Wrong,
            Some(_) if token.is_expired(part.poster.now_ms) => Judgement::Expired,
            Some(which) => Judgement::Proved(which),
        }
    }

    fn text(&self, part: &HistoryPart<'_>, text: &str, metadata: Option<&ProviderMetadata>) -> Verdict {
        let seal = seal_of(metadata);
        // Without a seal there is nothing to compare with.
        let digests = seal.and_then(|_| Some((text_digest(text), state_digest(metadata, &mut Vec::new())?)));
        let sealed = digests.as_ref().map(|(text, state)| match part.claim {
            Claim::Reasoning => Sealed::Reasoning { text, state },
            _ => Sealed::Text { text, state },
        });
        // Plain text of the host's store is the host's word.
        let refuse = self.refuses_unsealed_text && !text.is_empty() && !part.is_loaded;
        match self.judge(seal, part, &[sealed]) {
            Judgement::Proved(_) => Verdict::Accept,
            Judgement::Nothing | Judgement::Expired if !refuse => Verdict::Distrust,
            _ => Verdict::Refuse,
        }
    }

    fn call(&self, part: &HistoryPart<'_>, tool: &ToolPart) -> CallJudgement {
        let (id, name) = (tool.call_id.as_str(), tool.name.as_str());
        let has_failed = matches!(tool.state, ToolState::OutputError { .. });
        let Some(seal) = seal_of(tool.metadata.as_ref()) else { return CallJudgement::Unproved };
        let Some(state) = state_digest(tool.metadata.as_ref(), &mut Vec::new()) else {
            return CallJudgement::Unproved;
        };
        let state = &state;
        let arguments = part.arguments_digest(text_digest);
        let call = arguments.as_ref().map(|arguments| Call { id, name, arguments });
        let claims = [
            call.map(|call| Sealed::Call { call, state }),
            call.map(|call| Sealed::ClientCall { call, state }),
            has_failed.then_some(Sealed::FailedCall { id, name, state }),
        ];
        match self.judge(Some(seal), part, &claims) {
            Judgement::Proved(1) => CallJudgement::Clients,
            Judgement::Proved(_) => CallJudgement::Servers,
            Judgement::Expired => CallJudgement::ClientsExpired,
            Judgement::Nothing => CallJudgement::Unproved,
            // Clients put the arguments of a call that failed elsewhere, or lose them.
            Judgement::Wrong if has_failed => CallJudgement::Unproved,
            Judgement::Wrong => CallJudgement::Wrong,
        }
    }

    /// Judges a result: the server's, or the client's answer to a call that was left to the client.
    fn result(&self, part: &HistoryPart<'_>, tool: &ToolPart) -> Verdict {
        let judgement = self.servers_result(part, tool);
        if let Judgement::Proved(_) = judgement {
            return Verdict::Accept;
        }
        match (self.call(part, tool), judgement) {
            // The tool of another agent, which the client ran.
            (CallJudgement::Clients | CallJudgement::ClientsExpired, _)
                if part.side == Some(ToolSide::Server) =>
            {
                Verdict::Distrust
            }
            (CallJudgement::Clients, _) => Verdict::Accept,
            (CallJudgement::ClientsExpired, _) if part.is_due => Verdict::Expired,
            (CallJudgement::ClientsExpired, _) => Verdict::Accept,
            (CallJudgement::Wrong, _) | (_, Judgement::Wrong) => Verdict::Refuse,
            _ => Verdict::Distrust,
        }
    }

    fn servers_result(&self, part: &HistoryPart<'_>, tool: &ToolPart) -> Judgement {
        let (id, name) = (tool.call_id.as_str(), tool.name.as_str());
        let Some(seal) = result_seal(part, id) else { return Judgement::Nothing };
        let (arguments, output, text);
        let sealed = match &tool.state {
            ToolState::OutputError { error_text, .. } => {
                text = text_digest(error_text);
                Some(Sealed::Error { id, name, text: &text })
            }
            _ => {
                arguments = part.arguments_digest(text_digest);
                output = part.output.map(text_digest);
                arguments
                    .as_ref()
                    .zip(output.as_ref())
                    .map(|(arguments, output)| Sealed::Output { call: Call { id, name, arguments }, output })
            }
        };
        self.judge(Some(seal), part, &[sealed])
    }

    fn approval(&self, part: &HistoryPart<'_>, tool: &ToolPart, approval: &Approval) -> Verdict {
        let arguments = part.arguments_digest(text_digest);
        let (id, agent) = (&*approval.id, part.poster.agent);
        let sealed = arguments.as_ref().map(|arguments| {
            let call = Call { id: &tool.call_id, name: &tool.name, arguments };
            match tool.asked_by() {
                None => Sealed::Approval { id, call, agent },
                Some(asked_by) => Sealed::AskedApproval { id, call, agent, asked_by },
            }
        });
        match self.judge(approval.signature.as_deref(), part, &[sealed]) {
            Judgement::Proved(_) => Verdict::Accept,
            Judgement::Expired => Verdict::Expired,
            Judgement::Nothing => Verdict::Distrust,
            Judgement::Wrong => Verdict::Refuse,
        }
    }
}

/// The result of the verification of a seal.
enum Judgement {
    /// It proves the claim with this index.
    Proved(usize),
    /// It proved a claim, and has expired.
    Expired,
    /// There is no seal, or its version or its key is unknown.
    Nothing,
    /// The seal is under a known key, and belongs to another part.
    Wrong,
}

/// The result of the verification of a call's seal.
enum CallJudgement {
    /// The server made the call, or the provider did, and answered it.
    Servers,
    /// The server made the call and left it to the client.
    Clients,
    /// The same, after the time for the answer.
    ClientsExpired,
    Unproved,
    Wrong,
}

impl Verifier for SealVerifier {
    fn verify(&self, part: HistoryPart<'_>) -> Verdict {
        match (part.claim, part.part) {
            (Claim::Text, Part::Text(posted)) => self.text(&part, &posted.text, posted.metadata.as_ref()),
            (Claim::Reasoning, Part::Reasoning(posted)) => {
                self.text(&part, &posted.text, posted.metadata.as_ref())
            }
            (Claim::Call, Part::Tool(tool)) => match self.call(&part, tool) {
                CallJudgement::Wrong => Verdict::Refuse,
                CallJudgement::Unproved => Verdict::Distrust,
                _ => Verdict::Accept,
            },
            (Claim::Output | Claim::Failure, Part::Tool(tool)) => self.result(&part, tool),
            (Claim::Approval | Claim::Request, Part::Tool(tool)) => match &tool.state {
                ToolState::ApprovalResponded { approval, .. }
                | ToolState::ApprovalRequested { approval, .. } => self.approval(&part, tool, approval),
                _ => Verdict::Distrust,
            },
            _ => Verdict::Distrust,
        }
    }
}

fn seal_of(metadata: Option<&ProviderMetadata>) -> Option<&str> {
    metadata?.own_text("seal")
}

/// Returns the seal of a call's output or failure.
fn result_seal<'a>(part: &HistoryPart<'a>, call_id: &str) -> Option<&'a str> {
    let metadata = part.message.metadata.as_ref()?.as_object()?;
    own_entries(metadata)?.get("seals")?.get(call_id)?.as_str()
}
