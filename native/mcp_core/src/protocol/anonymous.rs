//! What a client may ask for without a token, at an endpoint that lets such clients in.

use jsonschema::json::Json;

use super::conceal::Asked;
use super::method::Method;
use crate::catalog::Offer;
use crate::revision::Revision;

/// How much is open to clients without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// What there is: `initialize`, `server/discover`, `ping` and the lists.
    Discovery,
    /// What is declared to be public, too, and the tasks of such calls.
    All,
}

impl Asked<'_, '_, '_> {
    /// Whether the client must come back with a token. An unknown name needs one as well: it says nothing of what
    /// is there.
    pub(super) fn needs_token<J: Json>(self, offer: Offer<'_, '_, J>, revision: Revision) -> bool {
        let Some(anonymous) = self.context.anonymous else {
            return false;
        };
        match Method::find(self.method, revision) {
            None
            | Some(
                Method::Initialize
                | Method::Ping
                | Method::Discover
                | Method::ListTools
                | Method::ListPrompts
                | Method::ListResources
                | Method::ListResourceTemplates,
            ) => false,
            Some(
                Method::GetTask
                | Method::TaskResult
                | Method::ListTasks
                | Method::UpdateTask
                | Method::CancelTask,
            ) => anonymous == Anonymous::Discovery,
            Some(method) => {
                let entry = self.named(offer, method);
                anonymous == Anonymous::Discovery || !entry.is_some_and(|it| offer.is_public(it))
            }
        }
    }
}
