//! The wire shapes of `mcp_core`, with the atoms and keys for the writer. They are created once,
//! when the library is loaded. Every atom here is a name in a table of the library.

use std::collections::HashMap;
use std::ptr;
use std::sync::OnceLock;

use mcp_core::json::append_short;
use mcp_core::model::{Field, Kind, Presence, SHAPES, Shape};
use rustler::{Atom, Env, NifResult, Term};

use super::Extras;
use super::dates::Calendar;
use crate::terms::word::{self, BuildWordHasher};

/// A field of a shape.
pub(super) struct Row {
    pub(super) field: &'static Field,
    /// The struct's field.
    pub(super) atom: Atom,
    /// The allowed keys in a plain map.
    spellings: Vec<String>,
    /// A comma and the JSON key with quotes and colon.
    key: String,
    /// Whether the field is omitted if it has no value.
    is_optional: bool,
    /// Whether the field is in the shape's `one_of`.
    pub(super) in_one_of: bool,
}

/// A shape with its rows.
pub(super) struct Table {
    pub(super) shape: &'static Shape,
    pub(super) rows: Vec<Row>,
    /// The tag's key and text, as a member.
    pub(super) tag: String,
}

/// The kind of a struct, by its module.
#[derive(Clone, Copy)]
pub(super) enum StructKind {
    /// An MCP object.
    Wire(&'static Table),
    /// `Prompt.MessageContent`: an MCP object, and also content of the kind in its `type` field.
    Message(&'static Table),
    Calendar(Calendar),
    Decimal,
    /// The replacement for a struct whose encoder failed.
    Unencodable,
}

struct Tables {
    all: Vec<Table>,
    by_shape: HashMap<usize, usize, BuildWordHasher>,
    by_module: HashMap<usize, Module, BuildWordHasher>,
}

/// The kind of a module's structs, with the index of their table.
enum Module {
    Wire(usize),
    Message(usize),
    Other(StructKind),
}

static TABLES: OnceLock<Tables> = OnceLock::new();

/// Creates the tables. It is called when the library is loaded.
pub(crate) fn prepare(env: Env<'_>) -> NifResult<()> {
    let tables = Tables::new(env)?;
    // A second load in one VM finds the equal tables of the first load.
    let _ = TABLES.set(tables);
    Ok(())
}

/// The table of a shape.
pub(super) fn of_shape(shape: &'static Shape) -> Option<&'static Table> {
    let tables = TABLES.get()?;
    tables
        .all
        .get(*tables.by_shape.get(&ptr::from_ref(shape).addr())?)
}

/// The kind of a module's structs; `None` for an unknown module.
pub(super) fn of_module(module: Term<'_>) -> Option<StructKind> {
    let tables = TABLES.get()?;
    Some(match tables.by_module.get(&word::of(module))? {
        Module::Wire(index) => StructKind::Wire(tables.all.get(*index)?),
        Module::Message(index) => StructKind::Message(tables.all.get(*index)?),
        Module::Other(kind) => *kind,
    })
}

/// Whether a table of the library writes the structs of a module.
pub(crate) fn is_known_struct(module: Term<'_>) -> bool {
    of_module(module).is_some()
}

impl Tables {
    fn new(env: Env<'_>) -> NifResult<Self> {
        let all: Vec<Table> = SHAPES
            .iter()
            .map(|shape| Table::new(env, shape))
            .collect::<NifResult<_>>()?;
        let by_shape = all
            .iter()
            .enumerate()
            .map(|(index, table)| (ptr::from_ref(table.shape).addr(), index))
            .collect();
        let mut by_module = HashMap::default();
        for (index, table) in all.iter().enumerate() {
            let name = table.shape.name;
            let kind = match name {
                "Prompt.MessageContent" => Module::Message(index),
                _ => Module::Wire(index),
            };
            by_module.insert(module(env, &format!("Elixir.McpServer.{name}"))?, kind);
        }
        for (name, calendar) in Calendar::MODULES {
            let kind = Module::Other(StructKind::Calendar(calendar));
            by_module.insert(module(env, name)?, kind);
        }
        let decimal = Module::Other(StructKind::Decimal);
        by_module.insert(module(env, "Elixir.Decimal")?, decimal);
        let unencodable = Module::Other(StructKind::Unencodable);
        by_module.insert(
            module(env, "Elixir.McpServer.JSON.Unencodable")?,
            unencodable,
        );
        Ok(Self {
            all,
            by_shape,
            by_module,
        })
    }
}

fn module(env: Env<'_>, name: &str) -> NifResult<usize> {
    Atom::from_str(env, name).map(|atom| word::of(atom.to_term(env)))
}

impl Table {
    fn new(env: Env<'_>, shape: &'static Shape) -> NifResult<Self> {
        let rows = shape
            .fields
            .iter()
            .map(|field| Row::new(env, field, shape))
            .collect::<NifResult<_>>()?;
        let tag = shape.tag.map(|(key, text)| format!("\"{key}\":\"{text}\""));
        Ok(Self {
            shape,
            rows,
            tag: tag.unwrap_or_default(),
        })
    }

    /// The row with this JSON key.
    pub(super) fn row(&self, wire: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.field.wire == wire)
    }

    /// Whether a plain map of this shape may have this key.
    pub(super) fn knows(&self, key: &[u8]) -> bool {
        self.rows.iter().any(|row| row.is_spelt(key))
            || self
                .shape
                .tag
                .is_some_and(|(name, _)| name.as_bytes() == key)
    }
}

impl Row {
    fn new(env: Env<'_>, field: &'static Field, shape: &Shape) -> NifResult<Self> {
        let mut spellings = vec![
            field.wire.to_owned(),
            field.name.to_owned(),
            snake_case(field.wire),
        ];
        spellings.dedup();
        Ok(Self {
            field,
            atom: Atom::from_str(env, field.name)?,
            spellings,
            key: format!(",\"{}\":", field.wire),
            is_optional: matches!(field.presence, Presence::Optional | Presence::Filled),
            in_one_of: shape.one_of.contains(&field.wire),
        })
    }

    /// Whether the field is omitted if it has no value.
    #[inline]
    pub(super) fn may_be_absent(&self, extras: &Extras<'_>) -> bool {
        self.is_optional && (extras.meta.is_empty() || !matches!(self.field.kind, Kind::Meta))
    }

    /// Appends the JSON key, with a comma unless it is the first of its object.
    #[inline]
    pub(super) fn append_key(&self, first: bool, out: &mut Vec<u8>) {
        let skipped = usize::from(first);
        append_short(out, self.key.get(skipped..).unwrap_or_default());
    }

    /// Whether this key of a plain map means this field.
    pub(super) fn is_spelt(&self, key: &[u8]) -> bool {
        self.spellings
            .iter()
            .any(|spelling| spelling.as_bytes() == key)
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
