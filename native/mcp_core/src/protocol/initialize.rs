//! `initialize`, the first request of a session.

use jsonschema::json::Json;

use super::answered::Answered;
use super::frame::result_head;
use super::limits::MessageLimits;
use super::meta;
use super::refusal::{Answer, Refusal};
use super::request::Initialize;
use crate::catalog::Catalog;
use crate::json::{Kind, View};
use crate::jsonrpc::Id;
use crate::revision::{Era, Revision};

/// Negotiates a revision and builds the response.
///
/// # Errors
/// −32602 when one of the three members is missing, too long or has the wrong type.
pub(super) fn open_session<'a, J: Json>(
    catalog: &Catalog<J>,
    id: &Id,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Result<Initialize<'a>, Refusal> {
    let member = |name: &str| params.and_then(|params| params.get(name));
    let version = member("protocolVersion")
        .and_then(|version| version.text())
        .ok_or_else(|| Refusal::invalid_params("protocolVersion must be a string"))?;
    let capabilities = member("capabilities")
        .filter(|capabilities| capabilities.kind() == Kind::Object)
        .ok_or_else(|| Refusal::invalid_params("capabilities must be an object"))?;
    let info = member("clientInfo")
        .filter(|info| meta::is_implementation(*info))
        .ok_or_else(|| {
            Refusal::invalid_params(
                "clientInfo must be an object with the strings name and version",
            )
        })?;
    meta::check_size(Some(capabilities), "capabilities", limits)?;
    meta::check_size(Some(info), "clientInfo", limits)?;
    // An unknown version gets the newest session revision, never a refusal.
    let revision = Revision::parse(&version)
        .filter(|revision| revision.era() == Era::Session)
        .unwrap_or(Revision::NEWEST_SESSION);
    let mut body = result_head(id);
    body.extend_from_slice(catalog.initialize_tail(revision));
    Ok(Initialize {
        answer: Answer {
            body,
            status: 200,
            answered: Answered::Initialize,
        },
        id: id.clone(),
        revision,
        client_info: info.raw(),
        capabilities: capabilities.raw(),
    })
}
