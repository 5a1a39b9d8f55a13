//! The subschemas of a schema, with their places.

use mcp_core::schema::subschemas;
use serde_json::{Map, Value};

/// The role of a subschema in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The root schema.
    Root,
    /// The schema of a named property.
    Property,
    /// The schema of an array's elements.
    Items,
    /// Any other: a branch, a definition, the schema of other properties.
    Other,
}

/// A subschema.
pub(crate) struct Place<'s> {
    /// JSON Pointer from the schema.
    pub(crate) pointer: String,
    pub(crate) role: Role,
    pub(crate) schema: &'s Value,
}

/// All subschemas in written order, each schema before its subschemas.
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
