//! Notifications that a client may send. Unknown and malformed notifications are ignored.

use crate::json::View;
use crate::jsonrpc::Id;

/// A notification that concerns the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification<'a> {
    /// `notifications/initialized`
    Initialized,
    /// `notifications/cancelled`
    Cancelled {
        /// The request to cancel.
        id: Id,
        /// The reason, for the log.
        reason: Option<String>,
    },
    /// `notifications/progress` on a request of the server.
    Progress {
        /// The server's progress token.
        token: Id,
        /// The parameters as sent.
        params: &'a [u8],
    },
    /// `notifications/roots/list_changed`
    RootsListChanged,
}

impl<'a> Notification<'a> {
    /// Parses a notification; `None` if it is unknown or malformed.
    pub(super) fn read(method: &str, params: Option<View<'_, 'a>>) -> Option<Self> {
        match method {
            "notifications/initialized" => Some(Self::Initialized),
            "notifications/roots/list_changed" => Some(Self::RootsListChanged),
            "notifications/cancelled" => {
                let params = params?;
                Some(Self::Cancelled {
                    id: id(params.get("requestId")?)?,
                    reason: params
                        .get("reason")
                        .and_then(|reason| Some(reason.text()?.into_owned())),
                })
            }
            "notifications/progress" => {
                let params = params?;
                Some(Self::Progress {
                    token: id(params.get("progressToken")?)?,
                    params: params.raw(),
                })
            }
            _ => None,
        }
    }
}

fn id(view: View<'_, '_>) -> Option<Id> {
    match view.text() {
        Some(text) => Some(Id::Text(text.into_owned())),
        None => view.integer().map(Id::Number),
    }
}
