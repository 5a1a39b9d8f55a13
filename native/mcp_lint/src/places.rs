//! The subschemas of a schema and where they stand.

use serde_json::{Map, Value};

use mcp_core::json::pointer;

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

#[derive(Clone, Copy)]
enum Holds {
    One,
    List,
    Map,
}

const APPLICATORS: &[(&str, Holds, Role)] = &[
    ("properties", Holds::Map, Role::Property),
    ("items", Holds::One, Role::Items),
    ("prefixItems", Holds::List, Role::Items),
    ("patternProperties", Holds::Map, Role::Other),
    ("additionalProperties", Holds::One, Role::Other),
    ("unevaluatedProperties", Holds::One, Role::Other),
    ("propertyNames", Holds::One, Role::Other),
    ("additionalItems", Holds::One, Role::Other),
    ("unevaluatedItems", Holds::One, Role::Other),
    ("contains", Holds::One, Role::Other),
    ("allOf", Holds::List, Role::Other),
    ("anyOf", Holds::List, Role::Other),
    ("oneOf", Holds::List, Role::Other),
    ("not", Holds::One, Role::Other),
    ("if", Holds::One, Role::Other),
    ("then", Holds::One, Role::Other),
    ("else", Holds::One, Role::Other),
    ("dependentSchemas", Holds::Map, Role::Other),
    ("$defs", Holds::Map, Role::Other),
    ("definitions", Holds::Map, Role::Other),
];

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
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let Some((_, holds, role)) = APPLICATORS.iter().find(|(name, ..)| name == keyword) else {
            continue;
        };
        let mut add = |pointer: String, schema: &'s Value| {
            if schema.is_object() || schema.is_boolean() {
                found.push(Place {
                    pointer,
                    role: *role,
                    schema,
                });
            }
        };
        match (holds, value) {
            (Holds::Map, Value::Object(members)) => {
                for (name, member) in members {
                    add(
                        format!("{pointer}/{keyword}/{}", pointer::segment(name)),
                        member,
                    );
                }
            }
            // Before 2020-12 `items` may be a list, too.
            (Holds::List | Holds::One, Value::Array(members)) => {
                for (index, member) in members.iter().enumerate() {
                    add(format!("{pointer}/{keyword}/{index}"), member);
                }
            }
            (Holds::One, one) => add(format!("{pointer}/{keyword}"), one),
            _ => {}
        }
    }
    found
}
