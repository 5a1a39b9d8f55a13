//! The part of JSON Schema that document-style tool declarations use. Anything else is a plain map.

use serde_json::{Map, Value};

object! {
    /// A JSON Schema. A field that is `nil` is left out; what is inside a field is not touched, so
    /// `default: false` and `enum: [null, "a"]` stay.
    #[derive(Default)]
    Schema / SCHEMA = "Schema" {
        /// A type's name, or a list of them.
        kind: Option<Value> => "type",
        /// The properties of an object, schemas by name.
        properties: Option<Map<String, Value>> => "properties",
        /// The properties an object must have.
        required: Option<Vec<String>> => "required",
        /// What the value means.
        description: Option<String> => "description",
        /// The values that are allowed.
        values: Option<Vec<Value>> => "enum",
        /// What is assumed when there is no value.
        default: Option<Value> => "default",
        /// The schema of an array's elements.
        items: Option<Value> => "items",
    }
}
