//! The application's structs, and the fields that they send.
//!
//! An application's struct needs an encoder; its fields are never sent by default. If it derives
//! `McpServer.JSON.Encoder`, Elixir registers its fields here when it first meets the module. Other
//! encoders are Elixir code, which runs before the term is written again.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use mcp_core::json::write_string;
use rustler::{Atom, Env, Term};

use super::{Writer, Written};
use crate::terms::atom_text;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::raw::Raw;
use crate::terms::word::{self, BuildWordHasher};

/// The fields that a struct sends, sorted by name.
pub(super) struct Plan {
    fields: Vec<PlannedField>,
}

struct PlannedField {
    atom: Atom,
    name: &'static str,
    /// The JSON key with a comma before and a colon after it.
    key: Vec<u8>,
}

/// The plans by the words of their modules; a reloaded module replaces its plan.
static PLANS: RwLock<Option<HashMap<usize, Arc<Plan>, BuildWordHasher>>> = RwLock::new(None);

/// Registers the fields that the structs of a module send.
pub(crate) fn plan_struct(env: Env<'_>, module: Atom, fields: &[Atom]) {
    let plan = Arc::new(Plan::of(env, fields));
    let mut plans = PLANS.write().unwrap_or_else(PoisonError::into_inner);
    plans
        .get_or_insert_default()
        .insert(word::of(module.to_term(env)), plan);
}

fn planned(module: Term<'_>) -> Option<Arc<Plan>> {
    let plans = PLANS.read().unwrap_or_else(PoisonError::into_inner);
    plans.as_ref()?.get(&word::of(module)).cloned()
}

impl Plan {
    fn of(env: Env<'_>, fields: &[Atom]) -> Self {
        let mut fields: Vec<PlannedField> = fields
            .iter()
            .map(|atom| PlannedField::of(env, *atom))
            .collect();
        fields.sort_unstable_by_key(|field| field.name);
        Self { fields }
    }
}

impl PlannedField {
    fn of(env: Env<'_>, atom: Atom) -> Self {
        let name = atom_text::of(atom.to_term(env));
        let mut key = vec![b','];
        write_string(&mut key, name);
        key.push(b':');
        Self { atom, name, key }
    }
}

/// The plans of one encoding, which mostly uses a few struct types many times.
#[derive(Default)]
pub(super) struct Plans(Vec<(usize, Arc<Plan>)>);

impl Plans {
    fn of(&mut self, module: Term<'_>) -> Option<Arc<Plan>> {
        let word = word::of(module);
        if let Some((_, plan)) = self.0.iter().find(|(known, _)| *known == word) {
            return Some(Arc::clone(plan));
        }
        let plan = planned(module)?;
        self.0.push((word, Arc::clone(&plan)));
        Some(plan)
    }
}

impl<'a> Writer<'_, 'a> {
    /// Writes the fields that an application's struct sends.
    pub(super) fn foreign_struct(&mut self, map: Raw<'a>, module: Term<'a>) -> Written {
        let plan = self.plans.of(module).ok_or_else(|| unknown(module))?;
        self.nested(|writer| {
            writer.out.push(b'{');
            for (index, field) in plan.fields.iter().enumerate() {
                let skipped = usize::from(index == 0);
                let key = field.key.get(skipped..).unwrap_or_default();
                writer.out.extend_from_slice(key);
                let value = map.get(writer.env, field.atom).ok_or_else(missing);
                value
                    .and_then(|value| writer.value(value))
                    .map_err(|error| error.under_key(field.name.as_bytes()))?;
            }
            writer.out.push(b'}');
            Ok(())
        })
    }
}

/// Whether the structs of a module send the field of that name.
///
/// # Errors
/// If the module is unknown.
pub(crate) fn sends_field(module: Term<'_>, name: &str) -> Result<bool, EncodeError> {
    let plan = planned(module).ok_or_else(|| unknown(module))?;
    Ok(plan.fields.iter().any(|field| field.name == name))
}

#[cold]
fn unknown(module: Term<'_>) -> EncodeError {
    let name = atom_text::of(module);
    let name = name.strip_prefix("Elixir.").unwrap_or(name);
    EncodeError::new(EncodeErrorKind::UnknownStruct, name)
}

#[cold]
fn missing() -> EncodeError {
    EncodeError::new(
        EncodeErrorKind::MissingField,
        "a struct lacks a field that it derives",
    )
}
