//! The subschemas of a schema and where they stand.

use mcp_core::schema::subschemas;
use serde_json::{Map, Value};

/// What a subschema is to the one that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The schema itself.
    Root,
    /// That of a named property.
    Property,
    /// That of an array's elements.
    Items,
    /// Anything else: a branch, a definition, the schema of other properties.
    Other,
}

/// A subschema.
pub(crate) struct Place<'s> {
    /// JSON Pointer from the schema.
    pub(crate) pointer: String,
    pub(crate) role: Role,
    pub(crate) schema: &'s Value,
}

/// Every subschema, a schema before those it holds, in the order they are written.
pub(crate) fn places(schema: &Value) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    let mut open = vec![Place {
        pointer: String::new(),
        role: Role::Root,
        schema,
    }];
    while let Some(place) = open.pop() {
        if let Some(object) = place.schema.as_object() {
            let mut held = held(&place.pointer, object);
            held.reverse();
            open.append(&mut held);
        }
        places.push(place);
    }
    places
}

fn held<'s>(pointer: &str, schema: &'s Map<String, Value>) -> Vec<Place<'s>> {
    let found = subschemas(schema).into_iter();
    found
        .map(|found| Place {
            pointer: format!("{pointer}{}", found.pointer),
            role: Role::behind(found.keyword),
            schema: found.schema,
        })
        .collect()
}

impl Role {
    fn behind(keyword: &str) -> Self {
        match keyword {
            "properties" => Self::Property,
            "items" | "prefixItems" => Self::Items,
            _ => Self::Other,
        }
    }
}
