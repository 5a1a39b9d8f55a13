//! Head and body of an HTTP message must agree (2026-07-28). A proxy may act on the head alone,
//! while the handler acts on the body.

use jsonschema::json::Json;

use super::argument::Argument;
use super::method::Method;
use super::refusal::Refusal;
use super::request::Work;
use crate::catalog::Offer;
use crate::http::{MirroredHeader, MirroredHeaders};
use crate::json::View;
use crate::revision::Revision;

/// Compares `MCP-Protocol-Version` with the version in `_meta`.
pub(super) fn check_version(mirrored: &MirroredHeaders, version: &str) -> Result<(), Refusal> {
    says("MCP-Protocol-Version", &mirrored.version, version)
}

/// Compares `Mcp-Method` with the method, and `Mcp-Name` with the name, URI or task id in the body.
pub(super) fn check_target(
    mirrored: &MirroredHeaders,
    method: &str,
    params: Option<View<'_, '_>>,
) -> Result<(), Refusal> {
    says("Mcp-Method", &mirrored.method, method)?;
    let member = match Method::find(method, Revision::NEWEST) {
        Some(Method::CallTool | Method::GetPrompt) => "name",
        Some(Method::ReadResource) => "uri",
        Some(Method::GetTask | Method::UpdateTask | Method::CancelTask) => "taskId",
        _ => return Ok(()),
    };
    match params.and_then(|params| params.get(member)?.text()) {
        Some(name) => says("Mcp-Name", &mirrored.name, &name),
        // The parameter check refuses a body without a name.
        None => Ok(()),
    }
}

/// Compares `Mcp-Param-*` with the arguments they repeat.
pub(super) fn check_parameters<J: Json>(
    mirrored: &MirroredHeaders,
    catalog: Offer<'_, '_, J>,
    work: &Work<'_>,
    params: Option<View<'_, '_>>,
) -> Result<(), Refusal> {
    let Work::Tool { index, .. } = work else {
        return Ok(());
    };
    let arguments = params.and_then(|params| params.get("arguments"));
    let parameters = catalog
        .tool(*index)
        .map_or(&[][..], |tool| tool.header_parameters.as_slice());
    for parameter in parameters {
        let header = || format!("Mcp-Param-{}", parameter.header);
        let argument = arguments.and_then(|view| Argument::find(view, &parameter.path));
        match (mirrored.parameter(&parameter.key), argument) {
            // No header can repeat an object or array; the tool's schema checks those.
            (MirroredHeader::Absent, None | Some(Argument::Structure)) => {}
            (MirroredHeader::Absent, Some(_)) => return Err(missing(&header())),
            (MirroredHeader::Unreadable, _) => return Err(unreadable(&header())),
            (MirroredHeader::Says(text), Some(argument)) if argument.is_repeated_by(text) => {}
            (MirroredHeader::Says(_), _) => return Err(different(&header())),
        }
    }
    Ok(())
}

fn says(header: &str, claim: &MirroredHeader, expected: &str) -> Result<(), Refusal> {
    match claim {
        MirroredHeader::Says(text) if text == expected => Ok(()),
        MirroredHeader::Says(_) => Err(different(header)),
        MirroredHeader::Absent => Err(missing(header)),
        MirroredHeader::Unreadable => Err(unreadable(header)),
    }
}

fn missing(header: &str) -> Refusal {
    Refusal::header_mismatch(&format!("{header} is missing"))
}

fn different(header: &str) -> Refusal {
    Refusal::header_mismatch(&format!("{header} does not match the body"))
}

fn unreadable(header: &str) -> Refusal {
    Refusal::header_mismatch(&format!("{header} must stand once and be readable"))
}
