//! Forms at 2025-06-18.

use super::FormError;
use super::node::{Node, ObjectWriter, write_array};
use super::property::Property;

/// Appends a form that was checked.
pub(super) fn write_form(out: &mut Vec<u8>, form: &Node<'_>) -> Result<(), FormError> {
    let mut object = ObjectWriter::open(out);
    for (key, value) in form.members().unwrap_or_default() {
        match &**key {
            "type" | "required" => value.write(object.member(key)),
            "properties" => write_properties(object.member(key), value)?,
            _ => {}
        }
    }
    object.close();
    Ok(())
}

fn write_properties(out: &mut Vec<u8>, properties: &Node<'_>) -> Result<(), FormError> {
    let mut object = ObjectWriter::open(out);
    for (name, schema) in properties.members().unwrap_or_default() {
        match Property::of(schema) {
            Some(Property::Choices) | None => {
                return Err(FormError::HasArray {
                    property: name.to_string(),
                });
            }
            Some(form) => write_property(object.member(name), form, schema),
        }
    }
    object.close();
    Ok(())
}

fn write_property(out: &mut Vec<u8>, form: Property, schema: &Node<'_>) {
    let mut object = ObjectWriter::open(out);
    for (key, value) in schema.members().unwrap_or_default() {
        let key = &**key;
        if form == Property::TitledChoice && key == "oneOf" {
            write_options(&mut object, value);
        } else if matches!(key, "type" | "title" | "description")
            || form.older_keywords().contains(&key)
        {
            value.write(object.member(key));
        }
    }
    object.close();
}

/// Titled choices, in the keywords of 2025-06-18.
fn write_options(object: &mut ObjectWriter<'_>, options: &Node<'_>) {
    for (keyword, member) in [("enum", "const"), ("enumNames", "title")] {
        let options = options.elements().unwrap_or_default().iter();
        let values = options.filter_map(|option| option.get(member));
        write_array(object.member(keyword), values);
    }
}
