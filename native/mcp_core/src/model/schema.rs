//! The part of JSON Schema for document-style tool declarations. Other schemas are plain maps.

use serde_json::{Map, Value};

object! {
    /// A JSON Schema. A `nil` field is omitted. The content of a field is unchanged, so
    /// `default: false` and `enum: [null, "a"]` stay.
    #[derive(Default)]
    Schema / SCHEMA = "Schema" {
        /// A type's name, or a list of them.
        kind: Option<Value> => "type",
        /// The properties of an object, schemas by name.
        properties: Option<Map<String, Value>> => "properties",
        /// The required properties of an object.
        required: Option<Vec<String>> => "required",
        /// The meaning of the value.
        description: Option<String> => "description",
        /// The allowed values.
        values: Option<Vec<Value>> => "enum",
        /// The value that is assumed if none is given.
        default: Option<Value> => "default",
        /// The schema of an array's elements.
        items: Option<Value> => "items",
    }
}
