//! The forms of elicitations that no revision has.

use mcp_core::model::{FormError, FormStep, fit_form};
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::forms::{REVISIONS, fitted, form_of, is_official};

#[track_caller]
fn is_refused(form: &Value, pointer: &str, expected: &str) {
    for revision in REVISIONS {
        let refused = fitted(form, revision).unwrap_err();
        assert_eq!(refused.to_string(), expected, "{revision:?}");
        let FormError::Invalid { path, .. } = refused else {
            panic!("{revision:?}: {refused}");
        };
        let steps = path.iter().map(|step| match step {
            FormStep::Name(name) => format!("/{name}"),
            FormStep::Index(index) => format!("/{index}"),
        });
        assert_eq!(steps.collect::<String>(), pointer, "{revision:?}");
    }
}

/// A property that no form has; the official schemas refuse it too.
#[track_caller]
fn is_no_property(property: &Value, pointer: &str, expected: &str) {
    let form = form_of(property);
    is_refused(&form, &format!("/properties/p{pointer}"), expected);
    for revision in REVISIONS {
        // 2025-06-18 does not know the keyword, but newer clients do.
        let is_older = revision == Revision::V2025_06_18;
        assert!(is_older || !is_official(&form, revision), "{revision:?}");
    }
}

const TYPES: &str = "expected a property of type string, number, integer, boolean or array, \
                        because forms have no nested objects";
const CHOICES: &str = "expected choices: the type string with a list enum, or a list anyOf of \
                       objects with const and title";

#[test]
fn a_property_has_one_of_five_types() {
    is_no_property(&json!({"type": "object", "properties": {}}), "", TYPES);
    is_no_property(&json!({"type": "null"}), "", TYPES);
    is_no_property(&json!({"type": ["string", "null"]}), "", TYPES);
    is_no_property(&json!({"enum": ["a"]}), "", TYPES);
    is_no_property(&json!({}), "", TYPES);
    is_no_property(&json!(true), "", TYPES);
}

#[test]
fn keywords_have_the_values_of_their_form() {
    let text = "expected a string";
    is_no_property(&json!({"type": "string", "title": 1}), "/title", text);
    is_no_property(
        &json!({"type": "boolean", "description": null}),
        "/description",
        text,
    );
    is_no_property(&json!({"type": "string", "default": 1}), "/default", text);
    let integer = "expected an integer";
    is_no_property(
        &json!({"type": "string", "minLength": "1"}),
        "/minLength",
        integer,
    );
    is_no_property(
        &json!({"type": "string", "maxLength": 1.5}),
        "/maxLength",
        integer,
    );
    is_no_property(
        &json!({"type": "string", "format": "uuid"}),
        "/format",
        "expected one of email, uri, date, date-time",
    );
    let number = "expected a number";
    is_no_property(
        &json!({"type": "number", "minimum": "1"}),
        "/minimum",
        number,
    );
    is_no_property(
        &json!({"type": "integer", "maximum": true}),
        "/maximum",
        number,
    );
    is_no_property(
        &json!({"type": "integer", "default": "1"}),
        "/default",
        number,
    );
    is_no_property(
        &json!({"type": "boolean", "default": "true"}),
        "/default",
        "expected true or false",
    );
}

#[test]
fn choices_are_strings() {
    // The official schemas read these as strings with unknown keywords, which are no choices.
    let refused = |property: Value, pointer: &str, expected: &str| {
        is_refused(
            &form_of(&property),
            &format!("/properties/p{pointer}"),
            expected,
        );
    };
    let list = "expected a list of strings";
    refused(json!({"type": "string", "enum": "a"}), "/enum", list);
    refused(
        json!({"type": "string", "enum": ["a", 1]}),
        "/enum/1",
        "expected a string",
    );
    refused(
        json!({"type": "string", "enum": ["a"], "enumNames": [null]}),
        "/enumNames/0",
        "expected a string",
    );
    refused(
        json!({"type": "string", "enum": ["a"], "default": 1}),
        "/default",
        "expected a string",
    );
    refused(
        json!({"type": "string", "oneOf": {}}),
        "/oneOf",
        "expected a list of objects with const and title",
    );
    refused(
        json!({"type": "string", "oneOf": [{"const": "a"}]}),
        "/oneOf/0/title",
        "expected a string",
    );
    refused(
        json!({"type": "string", "oneOf": ["a"]}),
        "/oneOf/0",
        "expected an object",
    );
}

#[test]
fn the_items_of_an_array_are_choices() {
    let array = |items: Value| json!({"type": "array", "items": items});
    is_no_property(&json!({"type": "array"}), "/items", CHOICES);
    is_no_property(&array(json!({"type": "string"})), "/items", CHOICES);
    is_no_property(&array(json!({"enum": ["a"]})), "/items", CHOICES);
    is_no_property(
        &array(json!({"type": "integer", "enum": ["a"]})),
        "/items",
        CHOICES,
    );
    is_no_property(
        &array(json!({"type": "string", "enum": [1]})),
        "/items/enum/0",
        "expected a string",
    );
    is_no_property(
        &array(json!({"anyOf": [{"const": 1, "title": "A"}]})),
        "/items/anyOf/0/const",
        "expected a string",
    );
    let choices = json!({"type": "string", "enum": ["a"]});
    for (keyword, value, expected) in [
        ("minItems", json!(0.5), "expected an integer"),
        ("maxItems", json!("1"), "expected an integer"),
        ("default", json!("a"), "expected a list of strings"),
    ] {
        let mut property = array(choices.clone());
        property[keyword] = value;
        is_no_property(&property, &format!("/{keyword}"), expected);
    }
}

#[test]
fn a_form_is_an_object_schema_with_properties() {
    let object = "expected an object";
    is_refused(&json!([]), "", object);
    let kind = "expected the type object";
    is_refused(&json!({"properties": {}}), "/type", kind);
    is_refused(&json!({"type": "array", "properties": {}}), "/type", kind);
    is_refused(&json!({"type": "object"}), "/properties", object);
    is_refused(
        &json!({"type": "object", "properties": []}),
        "/properties",
        object,
    );
    let form = |keyword: &str, value: Value| {
        let mut form = json!({"type": "object", "properties": {}});
        form[keyword] = value;
        form
    };
    is_refused(
        &form("required", json!("a")),
        "/required",
        "expected a list of strings",
    );
    is_refused(
        &form("required", json!(["a", 1])),
        "/required/1",
        "expected a string",
    );
    is_refused(&form("$schema", json!(1)), "/$schema", "expected a string");
    assert!(fit_form(b"{", Revision::NEWEST).is_err());
}
