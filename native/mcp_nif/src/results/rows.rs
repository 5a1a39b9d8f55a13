//! The formats of rows: a page, lines of JSON, comma-separated values.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::results::dual::{Page, write_csv_text, write_csv_value};
use rustler::{Atom, Encoder, Env, Error, ListIterator, NifResult, Term};

use crate::atoms;
use crate::dirty::{Effort, twins};
use crate::resources::{buffer, report_work};
use crate::terms::{Context, EncodeError, finished, is_known_struct, sends_field, write_value};

twins!("dual_page": dual_page, dual_page_dirty(
    rows: Term<'a>,
    offset: u64,
    total: u64,
) => page(rows, offset, total));

/// The body of a page: `{:ok, text}`, `{:error, …}` as in `McpServer.JSON`, or `:over_budget`.
fn page<'a>(
    env: Env<'a>,
    rows: Term<'a>,
    offset: u64,
    total: u64,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let budget = effort.budget();
    let returned = u64::try_from(rows.list_length()?).map_err(|_| Error::BadArg)?;
    let page = Page {
        offset,
        returned,
        total,
    };
    Ok(written(env, budget, |out| {
        out.extend_from_slice(Page::OPEN.as_bytes());
        write_value(out, rows, &Context::whole(budget))?;
        page.write_tail(out);
        Ok(())
    }))
}

twins!("dual_lines": dual_lines, dual_lines_dirty(
    rows: Term<'a>,
    columns: Term<'a>,
) => lines(rows, columns));

/// Rows as lines: one JSON text each, or comma-separated values in the order of the columns.
fn lines<'a>(
    env: Env<'a>,
    rows: Term<'a>,
    columns: Term<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let budget = effort.budget();
    let rows: ListIterator<'a> = rows.decode()?;
    let Some(columns) = columns.decode::<Option<Vec<&str>>>()? else {
        return Ok(written(env, budget, |out| {
            for row in rows {
                let left = budget.saturating_sub(out.len());
                write_value(out, row, &Context::whole(left))?;
                out.push(b'\n');
            }
            Ok(())
        }));
    };
    let columns = columns
        .into_iter()
        .map(|name| Column::named(env, name))
        .collect::<Vec<_>>();
    Ok(written(env, budget, |out| {
        for row in rows {
            let left = budget.saturating_sub(out.len());
            write_cells(out, row, &columns, &Context::whole(left))?;
        }
        Ok(())
    }))
}

/// The keys of a cell: the name as a binary, and as an atom if that atom exists.
struct Column<'a> {
    name: &'a str,
    text: Term<'a>,
    atom: Option<Term<'a>>,
}

impl<'a> Column<'a> {
    fn named(env: Env<'a>, name: &'a str) -> Self {
        let atom = Atom::existing_from_utf8_bytes(env, name.as_bytes()).ok();
        Self {
            name,
            text: name.encode(env),
            atom: atom.map(|atom| atom.encode(env)),
        }
    }

    /// The cell of a row. A struct has only the fields that it sends.
    fn of(&self, row: Term<'a>) -> Result<Option<Term<'a>>, EncodeError> {
        if let Ok(module) = row.map_get(atoms::struct_())
            && module.is_atom()
            && !is_known_struct(module)
            && !sends_field(module, self.name)?
        {
            return Ok(None);
        }
        let under_atom = || self.atom.and_then(|atom| row.map_get(atom).ok());
        Ok(row.map_get(self.text).ok().or_else(under_atom))
    }
}

fn write_cells<'a>(
    out: &mut Vec<u8>,
    row: Term<'a>,
    columns: &[Column<'a>],
    context: &Context,
) -> Result<(), EncodeError> {
    let mut json = Vec::new();
    let start = out.len();
    for (place, column) in columns.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let Some(cell) = column.of(row)? else {
            continue;
        };
        json.clear();
        write_value(&mut json, cell, context)?;
        write_cell(out, &String::from_utf8_lossy(&json));
    }
    // Most readers skip an empty line.
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Writes a value as a cell: a string without quotes, `null` as an empty cell, others as JSON.
fn write_cell(out: &mut Vec<u8>, json: &str) {
    if json == "null" {
        return;
    }
    match serde_json::from_str::<String>(json) {
        Ok(text) => write_csv_text(out, &text),
        Err(_) => write_csv_value(out, json),
    }
}

fn written(
    env: Env<'_>,
    budget: usize,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Term<'_> {
    let mut out = buffer(budget);
    let written = write(&mut out);
    report_work(env, out.len());
    finished(env, written, out)
}
