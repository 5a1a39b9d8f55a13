//! Walks the places of a value whose subschemas are certain.

use std::rc::Rc;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, Object};
use serde_json::{Map, Value};

use super::change::{Allowance, change};
use super::places::{Places, has_null, is_optional, only_type, property};
use super::{Change, Edit, Step};

/// Places that the walk visits.
const MAX_PLACES: usize = 20_000;

/// The last step of a path, and the steps before it.
struct Way {
    step: Step,
    before: Option<Rc<Way>>,
}

/// A value, its subschema, its path, and whether it is a member that its object does not require.
struct Place<'s, N> {
    node: N,
    schema: &'s Value,
    way: Option<Rc<Way>>,
    depth: usize,
    optional: bool,
}

/// The members that are `null` in place of a value, ordered by path; `None` if there are too many
/// places.
pub(super) fn absent<J: Json>(places: &Places<'_>, node: &J::Node<'_>) -> Option<Vec<Edit>> {
    walk::<J>(places, node, |place, members| {
        let is_absent =
            place.optional && place.node.json_type() == JsonType::Null && !has_null(members);
        Some(is_absent.then_some(Change::Absent))
    })
}

/// The changes that could make the value valid, ordered by path; `None` if there are too many
/// changes or places.
pub(super) fn edits<J: Json>(
    places: &Places<'_>,
    node: &J::Node<'_>,
    allowance: &mut Allowance,
) -> Option<Vec<Edit>> {
    walk::<J>(places, node, |place, members| {
        let change = only_type(members).and_then(|wanted| {
            let item = item_type(places, members);
            change::<J>(wanted, item, &place.node, place.depth, allowance)
        });
        if change.is_some() {
            allowance.take()?;
        }
        Some(change)
    })
}

/// The changes of a value's places, ordered by path. A place with a change is not walked into.
/// `None` if there are too many places, or if `change` is `None`.
fn walk<'s, 'i, J: Json>(
    places: &Places<'s>,
    node: &J::Node<'i>,
    mut change: impl FnMut(&Place<'s, J::Node<'i>>, &'s Map<String, Value>) -> Option<Option<Change>>,
) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut seen = 0_usize;
    let mut open = vec![Place {
        node: node.clone(),
        schema: places.root(),
        way: None,
        depth: 0,
        optional: false,
    }];
    while let Some(place) = open.pop() {
        seen = seen.saturating_add(1);
        if seen > MAX_PLACES {
            return None;
        }
        let Some(members) = places.resolve(place.schema) else {
            continue;
        };
        if let Some(change) = change(&place, members)? {
            edits.push(Edit {
                path: path(place.way.as_ref()),
                change,
            });
        } else {
            open_inside::<J>(places, &place, members, &mut open);
        }
        if open.len() > MAX_PLACES {
            return None;
        }
    }
    edits.sort_by(|one, other| one.path.cmp(&other.path));
    Some(edits)
}

/// The only type of a list's first item.
fn item_type<'s>(places: &Places<'s>, members: &'s Map<String, Value>) -> Option<&'s str> {
    only_type(places.resolve(places.item(members, 0)?)?)
}

/// Adds the places inside a place.
fn open_inside<'s, 'i, J: Json>(
    places: &Places<'s>,
    place: &Place<'s, J::Node<'i>>,
    members: &'s Map<String, Value>,
    open: &mut Vec<Place<'s, J::Node<'i>>>,
) {
    let mut add = |node, schema, step, optional| {
        open.push(Place {
            node,
            schema,
            way: Some(Rc::new(Way {
                step,
                before: place.way.clone(),
            })),
            depth: place.depth.saturating_add(1),
            optional,
        });
    };
    if let Some(object) = place.node.as_object() {
        // A declared name may also match a pattern.
        if members.contains_key("patternProperties") {
            return;
        }
        for (name, node) in object.members() {
            if let Some(schema) = property(members, name.as_ref()) {
                let optional = is_optional(members, name.as_ref());
                add(node, schema, Step::Name(name.as_ref().to_owned()), optional);
            }
        }
    } else if let Some(array) = place.node.as_array() {
        for (index, node) in array.elements().enumerate().take(MAX_PLACES) {
            if let Some(schema) = places.item(members, index) {
                add(node, schema, Step::Index(index), false);
            }
        }
    }
}

fn path(way: Option<&Rc<Way>>) -> Vec<Step> {
    let mut path = Vec::new();
    let mut way = way;
    while let Some(last) = way {
        path.push(last.step.clone());
        way = last.before.as_ref();
    }
    path.reverse();
    path
}
