//! The MCP Apps extension.

use mcp_core::apps::csp;
use mcp_core::model::{self, Csp};
use mcp_core::revision::Revision;
use rustler::{Encoder, Env, Term};

use crate::atoms;
use crate::terms::{Context, Extras, write_shape};

/// The Content-Security-Policy for a declared `csp` or `nil`; `sandbox` selects a sandbox's form.
#[rustler::nif]
fn content_security_policy<'a>(env: Env<'a>, declared: Term<'a>, sandbox: bool) -> Term<'a> {
    let policy = if sandbox {
        csp::sandbox_policy
    } else {
        csp::policy
    };
    match declared_csp(declared)
        .and_then(|csp| policy(csp.as_ref()).map_err(|error| error.to_string()))
    {
        Ok(policy) => (atoms::ok(), policy).encode(env),
        Err(reason) => (atoms::error(), reason).encode(env),
    }
}

fn declared_csp(declared: Term<'_>) -> Result<Option<Csp>, String> {
    if atoms::nil() == declared {
        return Ok(None);
    }
    let context = Context::of(Revision::NEWEST, usize::MAX);
    let mut text = Vec::new();
    write_shape(
        &mut text,
        &model::CSP,
        declared,
        &context,
        &Extras::default(),
    )
    .map_err(|_| "a csp is a map of lists of origins".to_owned())?;
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| error.to_string())
}
