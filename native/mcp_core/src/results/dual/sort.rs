//! Reads the requested order of rows.

use super::refusal::{Refusal, refuse};
use crate::http::HttpAnswer;
use crate::json::{Document, Kind, Limits, View};

const MAX_KEYS: usize = 8;
const MAX_FIELD_BYTES: usize = 256;

/// A sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ascending.
    Asc,
    /// Descending.
    Desc,
}

/// One column to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The column's name.
    pub field: String,
    /// The direction.
    pub order: Order,
}

/// The sort keys of a request: `null`, one object, or a list of objects.
pub(super) fn keys(sort: View<'_, '_>) -> Result<Vec<SortKey>, HttpAnswer> {
    match sort.kind() {
        Kind::Null => Ok(Vec::new()),
        Kind::Object => Ok(vec![key(sort)?]),
        Kind::Array => {
            // Documents index only the elements of a root array. The text was already checked.
            let list = Document::scan(sort.raw(), &Limits::default()).map_err(|_| not_a_sort())?;
            let keys: Vec<_> = list
                .root()
                .elements()
                .take(MAX_KEYS.saturating_add(1))
                .collect();
            if keys.len() > MAX_KEYS {
                return Err(refuse(&Refusal::InvalidSort("sort has more than 8 keys")));
            }
            keys.into_iter().map(key).collect()
        }
        _ => Err(not_a_sort()),
    }
}

fn key(key: View<'_, '_>) -> Result<SortKey, HttpAnswer> {
    let field = key.get("field").and_then(|field| field.text());
    let field = field
        .filter(|field| field.len() <= MAX_FIELD_BYTES)
        .ok_or_else(not_a_sort)?;
    let order = match key.get("order") {
        None => Order::Asc,
        Some(order) => order
            .text()
            .and_then(|order| parse_order(&order))
            .ok_or_else(|| refuse(&Refusal::InvalidSort("sort.order must be asc or desc")))?,
    };
    Ok(SortKey {
        field: field.into_owned(),
        order,
    })
}

fn parse_order(text: &str) -> Option<Order> {
    if text.eq_ignore_ascii_case("asc") {
        Some(Order::Asc)
    } else if text.eq_ignore_ascii_case("desc") {
        Some(Order::Desc)
    } else {
        None
    }
}

fn not_a_sort() -> HttpAnswer {
    refuse(&Refusal::InvalidSort(
        "sort must be null, an object with field and order, or a list of such objects",
    ))
}
