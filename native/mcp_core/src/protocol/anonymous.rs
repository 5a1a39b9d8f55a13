//! Requests that are allowed without a token, at an endpoint that admits such clients.

use jsonschema::json::Json;

use super::conceal::Asked;
use super::method::Method;
use crate::catalog::Offer;
use crate::revision::Revision;

/// The access of clients without a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// Discovery: `initialize`, `server/discover`, `ping` and the lists.
    Discovery,
    /// Discovery, entries declared public, and the tasks of calls to them.
    All,
}

impl Asked<'_, '_, '_> {
    /// Whether the client must send a token. An unknown name needs one as well, so that the
    /// response does not reveal which names exist.
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
