//! A server's limits for messages, which are read once and passed by reference with each message,
//! and the limits for the parts of a definition.

use mcp_core::catalog::CatalogLimits;
use mcp_core::catalog::template::TemplateLimits;
use mcp_core::protocol::MessageLimits;
use rustler::{Decoder, Encoder, Env, NifResult, ResourceArc, Term};

use crate::schema::schema_limits;
use crate::{atoms, options};

/// The limits of a server.
pub(crate) struct LimitsResource(MessageLimits);

#[rustler::resource_impl]
impl rustler::Resource for LimitsResource {}

/// The limits of a call: a server's, or the core's defaults for `nil`.
#[derive(Default)]
pub(crate) struct GivenLimits(Option<ResourceArc<LimitsResource>>);

impl<'a> Decoder<'a> for GivenLimits {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        term.decode().map(Self)
    }
}

impl GivenLimits {
    pub(crate) fn get(&self) -> MessageLimits {
        self.0
            .as_ref()
            .map_or_else(MessageLimits::default, |limits| limits.0)
    }
}

/// Reads a map of limits; absent limits have the core's defaults.
#[rustler::nif]
fn message_limits<'a>(env: Env<'a>, given: Term<'a>) -> Term<'a> {
    match read(given) {
        Ok(limits) => (atoms::ok(), ResourceArc::new(LimitsResource(limits))).encode(env),
        Err(error) => env.error_tuple(error),
    }
}

fn read(given: Term<'_>) -> Result<MessageLimits, String> {
    let mut limits = MessageLimits::default();
    options::read!(
        given,
        limits.json => [max_bytes, max_depth, max_values, max_digits],
        limits.envelope => [max_id_bytes, max_method_bytes],
        limits => [max_name_bytes, max_uri_bytes, max_meta_bytes, max_subscriptions, max_batch],
    )?;
    Ok(limits)
}

/// Reads the maps `{schema_limits, template_limits}`; absent limits have the core's defaults.
pub(crate) fn catalog_limits(given: Term<'_>) -> Result<CatalogLimits, String> {
    let (schema, template): (Term<'_>, Term<'_>) = options::value("limits", given)?;
    let schema = schema_limits(schema)?;
    let mut limits = TemplateLimits::default();
    options::read!(template, limits => [max_bytes, max_variables])?;
    Ok(CatalogLimits {
        schema,
        template: limits,
    })
}
