//! The forms of elicitations that are allowed, and how 2025-06-18 spells them.

use mcp_core::model::{ELICIT, FormError, fit_form};
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::encoded;
use super::official::Official;

pub(super) const REVISIONS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

pub(super) fn form_of(property: &Value) -> Value {
    json!({"type": "object", "properties": {"p": property}, "required": ["p"]})
}

/// The form as its client gets it.
pub(super) fn fitted(form: &Value, revision: Revision) -> Result<String, FormError> {
    let text = form.to_string();
    let fitted = fit_form(text.as_bytes(), revision)?;
    Ok(fitted.map_or(text, |fitted| String::from_utf8(fitted).unwrap()))
}

/// Each revision gets this form unchanged, and its official schema has it.
#[track_caller]
fn is_kept(property: &Value) {
    is_written(property, property);
}

/// 2025-06-18 gets the property in another form.
#[track_caller]
fn is_written(property: &Value, older: &Value) {
    for revision in REVISIONS {
        let is_older = revision == Revision::V2025_06_18;
        let expected = form_of(if is_older { older } else { property });
        let written = fitted(&form_of(property), revision).unwrap();
        assert_eq!(written, expected.to_string(), "{revision:?}");
        assert!(is_official(&expected, revision), "{revision:?}: {expected}");
    }
}

pub(super) fn is_official(form: &Value, revision: Revision) -> bool {
    let params = json!({"message": "?", "requestedSchema": form});
    let validator = Official::load(revision).validator("ElicitRequest/properties/params");
    validator.is_valid(&params)
}

#[test]
fn properties_of_every_revision_are_unchanged() {
    for property in [
        json!({"type": "string"}),
        json!({"title": "T", "type": "string", "description": "D"}),
        json!({"type": "string", "minLength": 0, "maxLength": 3, "format": "email"}),
        json!({"type": "string", "minLength": 1.0}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "format": "date"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "enum": []}),
        json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "ä \"B\"\n"]}),
        json!({"type": "integer", "minimum": -9_223_372_036_854_775_808_i64, "maximum": u64::MAX}),
        json!({"type": "number", "minimum": 0.1, "maximum": 1e300}),
        json!({"type": "boolean", "default": false}),
    ] {
        is_kept(&property);
    }
}

#[test]
fn a_form_is_written_in_the_order_it_was_given() {
    let form = r#"{"required":["b"],"properties":{"b":{"maximum":100000000000000000000000,"type":"number"},"a":{"type":"string","title":"A"}},"type":"object"}"#;
    for revision in REVISIONS {
        let written = fit_form(form.as_bytes(), revision).unwrap();
        let expected = (revision == Revision::V2025_06_18).then(|| form.as_bytes().to_vec());
        assert_eq!(written, expected, "{revision:?}");
    }
}

#[test]
fn keywords_that_2025_06_18_lacks_are_left_out_there() {
    let string = json!({"type": "string"});
    is_written(&json!({"type": "string", "default": "a"}), &string);
    is_written(&json!({"type": "string", "pattern": "^a"}), &string);
    is_written(&json!({"type": "string", "enumNames": ["A"]}), &string);
    is_written(
        &json!({"default": "a", "type": "string", "enum": ["a"], "format": "none"}),
        &json!({"type": "string", "enum": ["a"]}),
    );
    is_written(
        &json!({"type": "integer", "default": 1, "maximum": 2, "multipleOf": 1}),
        &json!({"type": "integer", "maximum": 2}),
    );
    is_written(
        &json!({"type": "boolean", "default": true, "x-mine": null}),
        &json!({"type": "boolean", "default": true}),
    );
}

#[test]
fn keywords_beside_the_properties_are_for_newer_revisions() {
    let form = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {}, "additionalProperties": false,
    });
    let older = fitted(&form, Revision::V2025_06_18).unwrap();
    assert_eq!(older, r#"{"type":"object","properties":{}}"#);
    let newer = fitted(&form, Revision::V2025_11_25).unwrap();
    assert_eq!(newer, form.to_string());
}

#[test]
fn titled_choices_have_an_older_spelling() {
    is_written(
        &json!({
            "type": "string", "default": "a",
            "oneOf": [{"const": "a", "title": "A"}, {"title": "B", "const": "b", "x": 1}],
            "title": "T",
        }),
        &json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "title": "T"}),
    );
    is_written(
        &json!({"type": "string", "oneOf": []}),
        &json!({"type": "string", "enum": [], "enumNames": []}),
    );
    // The titles of a list that is given twice are lost.
    is_written(
        &json!({"type": "string", "enum": ["a"], "oneOf": [{"const": "a", "title": "A"}]}),
        &json!({"type": "string", "enum": ["a"]}),
    );
}

#[test]
fn arrays_of_choices_are_for_2025_11_25_and_later() {
    for property in [
        json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}),
        json!({
            "type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "title": "T",
            "description": "D", "minItems": 0, "maxItems": 1, "default": ["a"],
        }),
    ] {
        let form = form_of(&property);
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            assert_eq!(fitted(&form, revision), Ok(form.to_string()));
            assert!(is_official(&form, revision), "{revision:?}");
        }
        let refused = fitted(&form, Revision::V2025_06_18).unwrap_err();
        let property = "p".to_owned();
        assert_eq!(refused, FormError::HasArray { property });
        assert_eq!(
            refused.to_string(),
            "The client cannot show the form's property \"p\": forms have arrays since 2025-11-25, and the client uses an earlier revision"
        );
        assert!(!is_official(&form, Revision::V2025_06_18));
    }
}

#[test]
fn an_elicitation_has_its_form_in_the_older_spelling() {
    let ask = |property: Value| json!({"message": "?", "requestedSchema": form_of(&property)});
    let given = ask(json!({"type": "string", "default": "a"}));
    let older = ask(json!({"type": "string"}));
    assert_eq!(
        encoded(&ELICIT, &given, Revision::V2025_06_18),
        older.to_string()
    );
    assert_eq!(
        encoded(&ELICIT, &given, Revision::V2025_11_25),
        given.to_string()
    );
    let refused = ask(json!({"type": "object", "default": {}}));
    assert_eq!(
        encoded(&ELICIT, &refused, Revision::V2025_06_18),
        refused.to_string()
    );
}
