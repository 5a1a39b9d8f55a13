//! Converts the return values of the server's code to messages.

use std::borrow::Cow;

use mcp_core::catalog::ListKind;
use mcp_core::json::write_string;
use mcp_core::jsonrpc;
use mcp_core::protocol::{NotificationKind, ResultKind, open_notification, open_result_head};
use rustler::{Atom, Encoder, Env, Error, NifResult, ResourceArc, Term};

use super::envelope::members;
use super::{CatalogResource, TermId, revision};
use crate::atoms;
use crate::dirty::{Effort, on_dirty};
use crate::resources::{INLINE_BYTES, binary_term, buffer, report_work};
use crate::schema::{Allowance, check, problem_terms};
use crate::terms::{
    Context, EncodeError, Extras, finished, normal_values, write_shape, write_value,
};

#[rustler::nif]
fn encode_result<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    id: TermId,
    revision_name: &str,
    kind: Atom,
    index: Option<usize>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    let context = Context::of(revision(revision_name)?, INLINE_BYTES);
    Reply {
        catalog: &catalog,
        id,
        context,
    }
    .encode(env, kind, index, term)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn encode_result_dirty<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    id: TermId,
    revision_name: &str,
    kind: Atom,
    index: Option<usize>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    let context = Context::of(revision(revision_name)?, usize::MAX);
    let reply = Reply {
        catalog: &catalog,
        id,
        context,
    };
    on_dirty(env, || reply.encode(env, kind, index, term))
}

/// An answer that is being written.
struct Reply<'c> {
    catalog: &'c CatalogResource,
    id: TermId,
    context: Context,
}

impl Reply<'_> {
    fn encode<'a>(
        &self,
        env: Env<'a>,
        kind: Atom,
        index: Option<usize>,
        term: Term<'a>,
    ) -> NifResult<Term<'a>> {
        if kind == atoms::tool()
            && let Some(refused) = self.refuse_output(env, index, term)
        {
            return Ok(refused);
        }
        let mut out = buffer(self.context.budget);
        open_result_head(&mut out, &self.id.0);
        let written = match result_kind(kind) {
            Some(ResultKind::Completion) => self.completion(&mut out, term),
            Some(result_kind) => self.object(&mut out, result_kind, term),
            None => self.list(&mut out, list_kind(kind).ok_or(Error::BadArg)?, term)?,
        };
        report_work(env, out.len());
        Ok(finished(env, written, out))
    }

    fn object(&self, out: &mut Vec<u8>, kind: ResultKind, term: Term<'_>) -> Written {
        let extras = self.catalog.0.extras(self.context.revision);
        let meta: Vec<(&str, &[u8])> = extras
            .meta
            .iter()
            .map(|(name, value)| (*name, value.as_slice()))
            .collect();
        out.extend_from_slice(b",\"result\":");
        let added = Extras {
            fields: kind.opening(extras),
            meta: &meta,
        };
        write_shape(
            out,
            kind.shape(self.context.revision),
            term,
            &self.context,
            &added,
        )?;
        out.push(b'}');
        Ok(())
    }

    fn completion(&self, out: &mut Vec<u8>, term: Term<'_>) -> Written {
        let extras = self.catalog.0.extras(self.context.revision);
        extras.open_result(out);
        out.extend_from_slice(b"\"completion\":");
        let shape = ResultKind::Completion.shape(self.context.revision);
        write_shape(out, shape, term, &self.context, &Extras::default())?;
        extras.close_result(out);
        Ok(())
    }

    fn list(&self, out: &mut Vec<u8>, kind: ListKind, term: Term<'_>) -> NifResult<Written> {
        let items: Vec<Term<'_>> = term.decode()?;
        let extras = self.catalog.0.extras(self.context.revision);
        extras.open_result(out);
        write_string(out, kind.member());
        out.extend_from_slice(b":[");
        for (place, item) in items.into_iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            if let Err(error) =
                write_shape(out, kind.shape(), item, &self.context, &Extras::default())
            {
                return Ok(Err(error));
            }
        }
        out.push(b']');
        if let Some(caching) = self.catalog.0.caching(self.context.revision) {
            out.push(b',');
            caching.write(out);
        }
        extras.close_result(out);
        Ok(Ok(()))
    }

    /// Refuses structured content that violates the tool's output schema.
    fn refuse_output<'a>(
        &self,
        env: Env<'a>,
        index: Option<usize>,
        result: Term<'a>,
    ) -> Option<Term<'a>> {
        let output = self.catalog.0.tool(index?)?.output.as_ref()?;
        if result
            .map_get(atoms::is_error())
            .is_ok_and(|failed| atoms::true_() == failed)
        {
            return None;
        }
        let content = result.map_get(atoms::structured_content()).ok()?;
        let content = members(env, content);
        let content = match normal_values(env, content, &self.context) {
            Ok(content) => content,
            Err(error) => {
                let error = error.under_key(b"structuredContent");
                return Some(finished(env, Err(error), Vec::new()));
            }
        };
        let effort = Effort::within(self.context.budget);
        match check(output, &content, &Allowance::of(effort)) {
            Some(checked) => {
                let problems = problem_terms(env, &checked.err()?).ok()?;
                Some(env.error_tuple((atoms::output_schema(), problems)))
            }
            None => Some(atoms::over_budget().to_term(env)),
        }
    }
}

type Written = Result<(), EncodeError>;

/// The kind of this name.
fn named<K: Copy>(name: Atom, kinds: &[(Atom, K)]) -> Option<K> {
    let named = kinds.iter().find(|(atom, _)| *atom == name);
    named.map(|(_, kind)| *kind)
}

fn result_kind(kind: Atom) -> Option<ResultKind> {
    let kinds = [
        (atoms::tool(), ResultKind::Tool),
        (atoms::prompt(), ResultKind::Prompt),
        (atoms::resource(), ResultKind::Read),
        (atoms::resource_template(), ResultKind::Read),
        (atoms::complete_prompt(), ResultKind::Completion),
        (atoms::complete_resource(), ResultKind::Completion),
        (atoms::create_task(), ResultKind::CreateTask),
        (atoms::get_task(), ResultKind::Task),
        (atoms::cancel_task(), ResultKind::Task),
        (atoms::list_tasks(), ResultKind::TaskList),
    ];
    named(kind, &kinds)
}

pub(super) fn list_kind(kind: Atom) -> Option<ListKind> {
    let kinds = [
        (atoms::list_tools(), ListKind::Tools),
        (atoms::list_prompts(), ListKind::Prompts),
        (atoms::list_resources(), ListKind::Resources),
        (
            atoms::list_resource_templates(),
            ListKind::ResourceTemplates,
        ),
    ];
    named(kind, &kinds)
}

/// The `_meta` key for the id of the `subscriptions/listen` request.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// An empty result. At the end of a subscription it names the subscription.
#[rustler::nif]
fn encode_empty<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    id: TermId,
    revision_name: &str,
    ends_subscription: bool,
) -> NifResult<Term<'a>> {
    let mut extras = catalog.0.extras(revision(revision_name)?).clone();
    if ends_subscription {
        extras.meta.insert(0, (SUBSCRIPTION_ID, id_bytes(&id)));
    }
    let mut out = Vec::with_capacity(128);
    open_result_head(&mut out, &id.0);
    out.extend_from_slice(b",\"result\":{");
    out.extend_from_slice(&extras.fields);
    extras.close_result(&mut out);
    Ok(binary_term(env, out))
}

fn id_bytes(id: &TermId) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24);
    id.0.write(&mut bytes);
    bytes
}

/// An error answer.
#[rustler::nif]
fn encode_error<'a>(
    env: Env<'a>,
    id: Option<TermId>,
    revision_name: &str,
    code: Term<'a>,
    message: Term<'a>,
    data: Term<'a>,
) -> NifResult<Term<'a>> {
    let revision = revision(revision_name)?;
    let code = if code.is_atom() {
        code_of(code)?
    } else {
        code.decode()?
    };
    let text = error_text(code, message)?;
    let mut encoded = Vec::new();
    if atoms::nil() != data {
        let context = Context::of(revision, usize::MAX);
        if let Err(error) = write_value(&mut encoded, data, &context) {
            return Ok(env.error_tuple(error));
        }
    }
    let data = (!encoded.is_empty()).then_some(encoded.as_slice());
    let mut out = Vec::with_capacity(128);
    let id = id.map(|id| id.0);
    let code = jsonrpc::code_in(revision, code);
    jsonrpc::write_error(&mut out, id.as_ref(), revision, code, &text, data);
    Ok((atoms::ok(), binary_term(env, out)).encode(env))
}

/// The message of an error: a text; a reason, which follows the standard message; or `nil` for the
/// standard message.
fn error_text(code: i32, message: Term<'_>) -> NifResult<Cow<'_, str>> {
    if let Ok(text) = message.decode::<&str>() {
        return Ok(text.into());
    }
    if let Ok((_because, reason)) = message.decode::<(Atom, &str)>() {
        return Ok(jsonrpc::explained(code, reason).into());
    }
    let text = jsonrpc::standard_message(code).ok_or(Error::BadArg)?;
    Ok(text.into())
}

/// The code of an error's name.
#[rustler::nif]
fn error_code(name: Term<'_>) -> NifResult<i32> {
    code_of(name)
}

/// The code and the HTTP status of a handler's error in a revision.
#[rustler::nif]
fn handler_error(revision_name: &str, code: i32) -> NifResult<(i32, u16)> {
    let revision = revision(revision_name)?;
    let status = jsonrpc::handler_status(revision, code);
    Ok((jsonrpc::code_in(revision, code), status))
}

fn code_of(name: Term<'_>) -> NifResult<i32> {
    jsonrpc::code_named(&name.atom_to_string()?).ok_or(Error::BadArg)
}

/// A notification of the server.
#[rustler::nif]
fn encode_notification<'a>(
    env: Env<'a>,
    revision_name: &str,
    kind: Atom,
    fields: Term<'a>,
    subscription: Option<TermId>,
) -> NifResult<Term<'a>> {
    let kind = notification_kind(kind).ok_or(Error::BadArg)?;
    let context = Context::of(revision(revision_name)?, usize::MAX);
    let subscription = subscription.map(|id| id_bytes(&id));
    let meta: Vec<(&str, &[u8])> = subscription
        .iter()
        .map(|id| (SUBSCRIPTION_ID, id.as_slice()))
        .collect();
    let mut out = Vec::with_capacity(256);
    open_notification(&mut out, kind);
    let added = Extras {
        fields: &[],
        meta: &meta,
    };
    let written = write_shape(&mut out, kind.shape(), fields, &context, &added);
    out.push(b'}');
    Ok(finished(env, written, out))
}

fn notification_kind(kind: Atom) -> Option<NotificationKind> {
    let kinds = [
        (atoms::progress(), NotificationKind::Progress),
        (atoms::message(), NotificationKind::Message),
        (
            atoms::tools_list_changed(),
            NotificationKind::ToolsListChanged,
        ),
        (
            atoms::prompts_list_changed(),
            NotificationKind::PromptsListChanged,
        ),
        (
            atoms::resources_list_changed(),
            NotificationKind::ResourcesListChanged,
        ),
        (atoms::resource_updated(), NotificationKind::ResourceUpdated),
        (atoms::cancelled(), NotificationKind::Cancelled),
        (
            atoms::subscriptions_acknowledged(),
            NotificationKind::SubscriptionsAcknowledged,
        ),
        (
            atoms::elicitation_complete(),
            NotificationKind::ElicitationComplete,
        ),
    ];
    named(kind, &kinds)
}
