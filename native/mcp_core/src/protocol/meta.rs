//! `params._meta`: progress tokens, and in the stateless era the client data that a session would
//! keep.

use super::fields::member;
use super::limits::MessageLimits;
use super::refusal::Refusal;
use crate::json::{Kind, View};
use crate::jsonrpc::Id;
use crate::model::LogLevel;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const PROGRESS_TOKEN: &str = "progressToken";

/// The members of a request's `_meta` that the protocol defines.
const OWN: [&str; 5] = [
    PROTOCOL_VERSION,
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    PROGRESS_TOKEN,
];

/// A progress token has the form of a request id.
pub type ProgressToken = Id;

/// The client of a stateless request.
#[derive(Clone, Debug, PartialEq)]
pub struct Client<'a> {
    /// `clientInfo` as sent.
    pub info: Option<&'a [u8]>,
    /// `clientCapabilities` as sent.
    pub capabilities: &'a [u8],
    /// The least severe log level the client wants for this request; `None` means no log messages.
    pub log_level: Option<&'static str>,
}

/// `params._meta` of a message.
pub(super) fn of<'d, 'a>(params: Option<View<'d, 'a>>) -> Option<View<'d, 'a>> {
    member(params, "_meta")
}

/// Whether the message declares itself stateless.
pub(super) fn claims_stateless(params: Option<View<'_, '_>>) -> bool {
    of(params).is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some())
}

/// Refuses client data that is too long to read or to keep in a session.
///
/// # Errors
/// −32602 with the name of the member.
pub(super) fn check_size(
    view: Option<View<'_, '_>>,
    name: &str,
    limits: &MessageLimits,
) -> Result<(), Refusal> {
    let most = limits.max_meta_bytes;
    match view {
        Some(view) if view.raw().len() > most => Err(Refusal::invalid_params(&format!(
            "{name} is longer than {most} bytes"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a `_meta` that is not an object or has too many members.
pub(super) fn check_form(meta: Option<View<'_, '_>>) -> Result<(), Refusal> {
    match meta {
        Some(meta) if meta.kind() != Kind::Object => {
            Err(Refusal::invalid_params("_meta must be an object"))
        }
        Some(meta) if meta.is_crowded() => {
            Err(Refusal::invalid_params("_meta has too many members"))
        }
        _ => Ok(()),
    }
}

/// The progress token, if there is one. Its length is limited, because every notification repeats
/// it.
pub(super) fn progress_token(
    meta: Option<View<'_, '_>>,
    limits: &MessageLimits,
) -> Result<Option<ProgressToken>, Refusal> {
    let Some(token) = member(meta, PROGRESS_TOKEN) else {
        return Ok(None);
    };
    let most = limits.envelope.max_id_bytes;
    if let Some(parsed) = Id::parse(token, most) {
        return Ok(Some(parsed));
    }
    Err(Refusal::invalid_params(&match token.kind() {
        Kind::String => format!("_meta.progressToken is longer than {most} bytes"),
        _ => "_meta.progressToken must be a string or an integer".to_owned(),
    }))
}

/// The members that the protocol does not define, such as a trace context.
pub(super) fn extras<'a>(meta: Option<View<'_, 'a>>) -> Vec<(String, &'a [u8])> {
    meta.into_iter()
        .flat_map(|meta| meta.members())
        .filter(|(name, _)| !OWN.contains(name))
        .map(|(name, view)| (name.to_owned(), view.raw()))
        .collect()
}

/// The version in a stateless request.
///
/// # Errors
/// −32602 when `_meta` or the version is missing or has the wrong type.
pub(super) fn version(params: Option<View<'_, '_>>) -> Result<String, Refusal> {
    let meta = object(of(params), "_meta")?;
    meta.get(PROTOCOL_VERSION)
        .and_then(|version| version.text())
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| missing(PROTOCOL_VERSION, "a string"))
}

/// The client of a stateless request.
///
/// # Errors
/// −32602 when a required member is missing or a member has the wrong type.
pub(super) fn client<'a>(params: Option<View<'_, 'a>>) -> Result<Client<'a>, Refusal> {
    let meta = object(of(params), "_meta")?;
    let capabilities = meta
        .get(CLIENT_CAPABILITIES)
        .filter(|capabilities| capabilities.kind() == Kind::Object)
        .ok_or_else(|| missing(CLIENT_CAPABILITIES, "an object"))?;
    let info = member(Some(meta), CLIENT_INFO);
    if info.is_some_and(|info| !is_implementation(info)) {
        return Err(missing(
            CLIENT_INFO,
            "an object with the strings name and version",
        ));
    }
    Ok(Client {
        info: info.map(|info| info.raw()),
        capabilities: capabilities.raw(),
        log_level: member(Some(meta), LOG_LEVEL)
            .map(|level| log_level(level, LOG_LEVEL))
            .transpose()?,
    })
}

/// A capability that the client of a stateless request declared: always an object.
pub(super) fn capability<'d, 'a>(params: Option<View<'d, 'a>>, name: &str) -> Option<View<'d, 'a>> {
    let declared = of(params)?.get(CLIENT_CAPABILITIES)?.get(name);
    declared.filter(|capability| capability.kind() == Kind::Object)
}

/// The names of required capabilities that the client did not declare.
pub(super) fn missing_capabilities(
    params: Option<View<'_, '_>>,
    required: &[String],
) -> Vec<String> {
    required
        .iter()
        .filter(|name| capability(params, name).is_none())
        .cloned()
        .collect()
}

/// Reads the name of a [`LogLevel`].
pub(super) fn log_level(view: View<'_, '_>, name: &str) -> Result<&'static str, Refusal> {
    let level = view.text().and_then(|text| LogLevel::parse(&text));
    level.map(LogLevel::as_str).ok_or_else(|| {
        let names = LogLevel::NAMES.join(", ");
        Refusal::invalid_params(&format!("{name} must be one of {names}"))
    })
}

/// Whether `view` has the required members of an `Implementation`.
pub(super) fn is_implementation(view: View<'_, '_>) -> bool {
    ["name", "version"].into_iter().all(|member| {
        view.get(member)
            .is_some_and(|value| value.kind() == Kind::String)
    })
}

fn object<'d, 'a>(view: Option<View<'d, 'a>>, name: &str) -> Result<View<'d, 'a>, Refusal> {
    view.filter(|view| view.kind() == Kind::Object)
        .ok_or_else(|| Refusal::invalid_params(&format!("{name} must be an object")))
}

fn missing(member: &str, expected: &str) -> Refusal {
    Refusal::invalid_params(&format!("_meta[\"{member}\"] must be {expected}"))
}
