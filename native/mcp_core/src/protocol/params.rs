//! The parameters of each request, checked before anything is built from them.

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::json::Json;

use super::fields::{member, must_be, no_longer_than, object, structure, text};
use super::input_response::is_input_response;
use super::limits::MessageLimits;
use super::meta;
use super::refusal::{BEHIND_ADMISSION, Refusal};
use super::request::{Completing, Input, ListenFilter, Work};
use super::task;
use crate::catalog::{ListKind, Offer, PromptTarget};
use crate::json::{Kind, View, elements};
use crate::revision::Revision;

pub(super) fn call_tool<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    revision: Revision,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Result<Work<'a>, Refusal> {
    let name = name(params, limits)?;
    // Any number of members is allowed here; the tool's schema checks them.
    let arguments = structure(params, "arguments")?;
    let Some((index, tool)) = catalog.find_tool(&name) else {
        if !catalog.has_run_time_tools() {
            return Err(Refusal::unknown("Tool", &name));
        }
        return Ok(Work::RunTimeTool {
            name,
            arguments: arguments.map(|view| view.raw()),
            task: task::asked(revision, params)?,
        });
    };
    Ok(Work::Tool {
        name,
        index,
        arguments: arguments.map(|view| view.raw()),
        task: task::requested(tool.task_support, revision, params)?,
    })
}

pub(super) fn get_prompt<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Result<Work<'a>, Refusal> {
    let name = name(params, limits)?;
    let arguments = object(params, "arguments")?;
    if let Some(arguments) = arguments {
        all_strings(arguments, "arguments")?;
    }
    let (index, prompt) = catalog
        .find_prompt(&name)
        .ok_or_else(|| Refusal::unknown("Prompt", &name))?;
    required_arguments(prompt, arguments)?;
    Ok(Work::Prompt {
        name,
        index,
        arguments: arguments.map(|view| view.raw()),
    })
}

fn required_arguments(
    prompt: &PromptTarget,
    arguments: Option<View<'_, '_>>,
) -> Result<(), Refusal> {
    let given = |name: &str| {
        let value = arguments.and_then(|arguments| arguments.get(name));
        value.is_some_and(|value| value.kind() != Kind::Null)
    };
    let missing: Vec<&str> = prompt
        .arguments
        .iter()
        .filter(|(name, required)| *required && !given(name))
        .map(|(name, _)| name.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "prompt '{}' needs the arguments: {}",
        prompt.name,
        missing.join(", ")
    );
    Err(Refusal {
        status: BEHIND_ADMISSION,
        ..Refusal::invalid_params(&reason)
    })
}

pub(super) fn read_resource<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    params: Option<View<'_, 'a>>,
    revision: Revision,
    limits: &MessageLimits,
) -> Result<Work<'a>, Refusal> {
    let uri = uri(params, limits)?;
    match catalog.find_resource(&uri) {
        Some(target) => Ok(Work::Read { uri, target }),
        None => Err(Refusal::resource_not_found(&uri, revision)),
    }
}

/// The URI of a subscription. It must match a resource or a template. If some of these are hidden,
/// the server's own code decides, also about an unknown URI.
pub(super) fn subscription_uri<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    params: Option<View<'_, 'a>>,
    revision: Revision,
    limits: &MessageLimits,
) -> Result<Cow<'a, str>, Refusal> {
    let uri = uri(params, limits)?;
    if hides_resources(catalog) || catalog.find_resource(&uri).is_some() {
        Ok(uri)
    } else {
        Err(Refusal::resource_not_found(&uri, revision))
    }
}

fn hides_resources<J: Json>(catalog: Offer<'_, '_, J>) -> bool {
    catalog.is_filtered(ListKind::Resources) || catalog.is_filtered(ListKind::ResourceTemplates)
}

/// The completion; `Ok(None)` if the target exists but offers no completion.
pub(super) fn complete<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Result<Option<Work<'a>>, Refusal> {
    let reference = object(params, "ref")?.ok_or_else(|| must_be("ref", "an object"))?;
    let argument = object(params, "argument")?.ok_or_else(|| must_be("argument", "an object"))?;
    let completing = Completing {
        name: text(Some(argument), "name")?,
        value: text(Some(argument), "value")?,
        context: context_arguments(params)?,
    };
    match text(Some(reference), "type")?.as_ref() {
        "ref/prompt" => complete_prompt(catalog, name(Some(reference), limits)?, completing),
        "ref/resource" => complete_template(catalog, uri(Some(reference), limits)?, completing),
        _ => Err(must_be("ref.type", "\"ref/prompt\" or \"ref/resource\"")),
    }
}

fn complete_prompt<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    name: Cow<'a, str>,
    argument: Completing<'a>,
) -> Result<Option<Work<'a>>, Refusal> {
    let (index, prompt) = catalog
        .find_prompt(&name)
        .ok_or_else(|| Refusal::unknown("Prompt", &name))?;
    if !prompt
        .arguments
        .iter()
        .any(|(declared, _)| *declared == argument.name)
    {
        return Err(Refusal::unknown("Argument", &argument.name));
    }
    Ok(prompt.completes.then_some(Work::CompletePrompt {
        name,
        index,
        argument,
    }))
}

fn complete_template<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    uri: Cow<'a, str>,
    argument: Completing<'a>,
) -> Result<Option<Work<'a>>, Refusal> {
    let Some((index, template)) = catalog.find_template(&uri) else {
        // A static resource is a valid target without variables to complete.
        return if catalog.resource_at(&uri).is_some() {
            Ok(None)
        } else {
            Err(Refusal::unknown("Resource", &uri))
        };
    };
    if !template
        .variables
        .iter()
        .any(|declared| *declared == argument.name)
    {
        return Err(Refusal::unknown("Variable", &argument.name));
    }
    Ok(template.completes.then_some(Work::CompleteTemplate {
        uri,
        index,
        argument,
    }))
}

fn context_arguments<'a>(params: Option<View<'_, 'a>>) -> Result<Option<&'a [u8]>, Refusal> {
    let Some(context) = object(params, "context")? else {
        return Ok(None);
    };
    let Some(arguments) = object(Some(context), "arguments")? else {
        return Ok(None);
    };
    all_strings(arguments, "context.arguments")?;
    Ok(Some(arguments.raw()))
}

pub(super) fn set_level<'a>(params: Option<View<'_, 'a>>) -> Result<Work<'a>, Refusal> {
    let level = params
        .and_then(|params| params.get("level"))
        .ok_or_else(|| must_be("level", "a string"))?;
    Ok(Work::SetLevel {
        level: meta::log_level(level, "level")?,
    })
}

/// The part of a `subscriptions/listen` filter that the server supports.
pub(super) fn listen<'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Result<Work<'a>, Refusal> {
    let wanted =
        object(params, "notifications")?.ok_or_else(|| must_be("notifications", "an object"))?;
    let flag = |name: &str| match member(Some(wanted), name) {
        None => Ok(false),
        Some(view) => view
            .boolean()
            .ok_or_else(|| must_be(&format!("notifications.{name}"), "a boolean")),
    };
    let offered = catalog.capabilities();
    let filter = ListenFilter {
        tools: flag("toolsListChanged")? && offered.tools,
        prompts: flag("promptsListChanged")? && offered.prompts,
        resources: flag("resourcesListChanged")? && offered.resources,
        uris: subscribed_uris(wanted, limits)?
            .into_iter()
            .filter(|uri| {
                let known = || hides_resources(catalog) || catalog.find_resource(uri).is_some();
                uri.len() <= limits.max_uri_bytes && known()
            })
            .collect(),
    };
    Ok(Work::Listen { filter })
}

/// Whether a `subscriptions/listen` filter names tasks. The server sends no task notifications;
/// clients poll.
pub(super) fn names_tasks(params: Option<View<'_, '_>>) -> bool {
    let wanted = params.and_then(|params| params.get("notifications"));
    member(wanted, "taskIds").is_some()
}

/// The URIs of a filter without duplicates. They are counted before any is read.
fn subscribed_uris(wanted: View<'_, '_>, limits: &MessageLimits) -> Result<Vec<String>, Refusal> {
    const NAME: &str = "notifications.resourceSubscriptions";
    let Some(uris) = member(Some(wanted), "resourceSubscriptions") else {
        return Ok(Vec::new());
    };
    if uris.kind() != Kind::Array {
        return Err(must_be(NAME, "an array of strings"));
    }
    let most = limits.max_subscriptions;
    if elements(uris.raw(), most.saturating_add(1)).len() > most {
        return Err(Refusal::too_many_subscriptions());
    }
    let mut uris: Vec<String> =
        serde_json::from_slice(uris.raw()).map_err(|_| must_be(NAME, "an array of strings"))?;
    let mut seen = HashSet::with_capacity(uris.len());
    uris.retain(|uri| seen.insert(uri.clone()));
    Ok(uris)
}

/// The input that the client adds to a retried request. Only the handler knows whether it needs a
/// response with an invalid form.
pub(super) fn input<'a>(params: Option<View<'_, 'a>>) -> Result<Input<'a>, Refusal> {
    let responses = object(params, "inputResponses")?;
    let state = match member(params, "requestState") {
        None => None,
        Some(state) => Some(
            state
                .text()
                .ok_or_else(|| must_be("requestState", "a string"))?,
        ),
    };
    Ok(Input {
        unsound: responses.map_or_else(Vec::new, unsound_responses),
        responses: responses.map(|responses| responses.raw()),
        state,
    })
}

/// The keys of input responses with an invalid form.
pub(super) fn unsound_responses(responses: View<'_, '_>) -> Vec<String> {
    responses
        .members()
        .filter(|(_, response)| !is_input_response(*response))
        .map(|(key, _)| key.to_owned())
        .collect()
}

/// The name of a tool or prompt.
fn name<'a>(params: Option<View<'_, 'a>>, limits: &MessageLimits) -> Result<Cow<'a, str>, Refusal> {
    no_longer_than(limits.max_name_bytes, "name", text(params, "name")?)
}

fn uri<'a>(params: Option<View<'_, 'a>>, limits: &MessageLimits) -> Result<Cow<'a, str>, Refusal> {
    no_longer_than(limits.max_uri_bytes, "uri", text(params, "uri")?)
}

/// A `null` counts as absent.
fn all_strings(object: View<'_, '_>, name: &str) -> Result<(), Refusal> {
    if object
        .members()
        .all(|(_, value)| matches!(value.kind(), Kind::String | Kind::Null))
    {
        Ok(())
    } else {
        Err(must_be(name, "an object of strings"))
    }
}
