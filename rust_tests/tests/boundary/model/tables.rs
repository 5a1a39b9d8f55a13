//! Every table against the properties that the official schemas declare.

use std::collections::BTreeSet;

use mcp_core::model::Shape;
use mcp_core::revision::Revision;

use super::official::{Official, PLACES};

/// Keys we write that the schemas do not declare: they tolerate them.
fn is_ours(shape: &Shape, key: &str) -> bool {
    match shape.name {
        "Content.Text" => key == "mimeType",
        "Resource.Content" => ["name", "title"].contains(&key),
        // Declared for every notification, in the base definition.
        name if name.starts_with("Notification.") => key == "_meta",
        _ => false,
    }
}

/// Keys the schemas declare that no shape has: the frame adds them, or nothing here needs them.
fn is_theirs(shape: &Shape, key: &str) -> bool {
    match key {
        "resultType" => true,
        "task" | "_meta" => shape.name.starts_with("Input."),
        _ => false,
    }
}

#[test]
fn every_table_knows_the_keys_its_revision_declares_and_no_others() {
    for revision in Revision::ALL {
        let official = Official::load(revision);
        for (shape, place) in PLACES {
            let Some(schema) = official.place(place) else {
                assert!(
                    !shape.known_at(revision),
                    "{} is not at {revision:?}",
                    shape.name
                );
                continue;
            };
            assert!(
                shape.known_at(revision),
                "{} is at {revision:?}",
                shape.name
            );
            let theirs: BTreeSet<_> = official
                .properties(schema)
                .into_iter()
                .filter(|key| {
                    !is_theirs(shape, key) || shape.field(key).is_some_and(|f| f.known_at(revision))
                })
                .collect();
            let known = shape.fields.iter().filter(|field| field.known_at(revision));
            let ours: BTreeSet<_> = known
                .map(|field| field.wire.to_owned())
                .chain(shape.tag.map(|(key, _)| key.to_owned()))
                .filter(|key| !is_ours(shape, key) || theirs.contains(key))
                .collect();
            assert_eq!(ours, theirs, "{} at {revision:?}", shape.name);
        }
    }
}
