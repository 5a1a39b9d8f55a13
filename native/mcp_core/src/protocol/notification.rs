//! Notifications that a client may send. Whatever is not understood is ignored, never answered.

use crate::json::View;
use crate::jsonrpc::Id;

/// A notification that concerns the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification<'a> {
    /// `notifications/initialized`
    Initialized,
    /// `notifications/cancelled`
    Cancelled {
        /// The request that is no longer wanted.
        id: Id,
        /// Why, for the log.
        reason: Option<String>,
    },
    /// `notifications/progress` on a request of ours.
    Progress {
        /// The token we gave.
        token: Id,
        /// The parameters as sent.
        params: &'a [u8],
    },
    /// `notifications/roots/list_changed`
    RootsListChanged,
}

impl<'a> Notification<'a> {
    /// What a notification says; `None` for one that is unknown or malformed.
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
