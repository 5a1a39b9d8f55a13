//! A wrapper of a representation that counts every access and shows no value.
//!
//! The validator sees values only through this wrapper. Each access costs a step of the [`Meter`].
//! An error that would carry the invalid value gets `null` instead, so no received value appears in
//! an error text, and none is copied for one.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::rc::Rc;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::Value;

use super::meter::Meter;
use super::numbers::{self, Exact};

/// The counted wrapper of the representation `J`.
pub(super) struct Counted<J>(PhantomData<fn() -> J>);

/// The meter that counts the accesses.
#[derive(Clone)]
enum Counter<'a> {
    /// The caller keeps the meter for as long as the value: this halves the time of counting.
    Lent(&'a Meter),
    Shared(Rc<Meter>),
    /// No meter, for property names: the validator checks them through a buffer without a meter.
    /// [`super::survey`] therefore bounds the cost of `propertyNames`.
    None,
}

impl Counter<'_> {
    #[inline]
    fn meter(&self) -> Option<&Meter> {
        match self {
            Self::Lent(meter) => Some(meter),
            Self::Shared(meter) => Some(meter),
            Self::None => None,
        }
    }

    /// Spends a step.
    #[inline]
    fn step(&self) {
        if let Some(meter) = self.meter() {
            meter.spend(1);
        }
    }

    /// Spends a step, and more for the bytes of a text that no pattern matches.
    #[inline]
    fn read(&self, text: &str) {
        if let Some(meter) = self.meter() {
            meter.spend_read(text.len());
        }
    }
}

/// A counted node of `J`.
pub(super) struct CountedNode<'a, J: Json> {
    inner: J::Node<'a>,
    meter: Counter<'a>,
}

impl<'a, J: Json> CountedNode<'a, J> {
    /// Counts accesses to `inner` on `meter`.
    pub(super) fn new(inner: J::Node<'a>, meter: &Rc<Meter>) -> Self {
        Self {
            inner,
            meter: Counter::Shared(Rc::clone(meter)),
        }
    }

    /// As [`CountedNode::new`], with a meter that the caller owns.
    pub(super) fn lent(inner: J::Node<'a>, meter: &'a Meter) -> Self {
        Self {
            inner,
            meter: Counter::Lent(meter),
        }
    }

    #[inline]
    fn step(&self) {
        self.meter.step();
    }

    /// The string, charged without the weight of patterns.
    fn text(&self) -> Option<Cow<'a, str>> {
        let text = self.inner.as_string();
        self.meter.read(text.as_deref().unwrap_or_default());
        text
    }

    fn error(&self) {
        if let Some(meter) = self.meter.meter() {
            meter.error();
        }
    }
}

impl<J: Json> Clone for CountedNode<'_, J> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            meter: self.meter.clone(),
        }
    }
}

impl<J: Json> Json for Counted<J> {
    type Node<'a> = CountedNode<'a, J>;
    type PreparedKey = J::PreparedKey;
    type StringBuffer = J::StringBuffer;

    const KEYS_PER_LOOKUP: usize = J::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> Self::PreparedKey {
        J::prepare_key(key)
    }

    fn with_string_node<T>(
        buffer: &mut Self::StringBuffer,
        string: &str,
        f: impl FnOnce(Self::Node<'_>) -> T,
    ) -> T {
        J::with_string_node(buffer, string, |inner| {
            f(CountedNode {
                inner,
                meter: Counter::None,
            })
        })
    }
}

impl<'a, J: Json> Node<'a, Counted<J>> for CountedNode<'a, J> {
    type Object = CountedObject<'a, J>;
    type Array = CountedArray<'a, J>;
    type Number = <J::Node<'a> as Node<'a, J>>::Number;

    #[inline]
    fn as_object(&self) -> Option<Self::Object> {
        self.step();
        let inner = self.inner.as_object()?;
        Some(CountedObject {
            inner,
            meter: self.meter.clone(),
        })
    }

    #[inline]
    fn as_array(&self) -> Option<Self::Array> {
        self.step();
        let inner = self.inner.as_array()?;
        Some(CountedArray {
            inner,
            meter: self.meter.clone(),
        })
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        let string = self.inner.as_string();
        if let Some(meter) = self.meter.meter() {
            meter.spend_text(string.as_ref().map_or(0, |string| string.len()));
        }
        string
    }

    #[inline]
    fn as_number(&self) -> Option<Self::Number> {
        let number = self.inner.as_number();
        if let Some(meter) = self.meter.meter() {
            meter.spend_digits(number.as_ref().map_or(0, numbers::long_digits));
        }
        number
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        self.step();
        self.inner.as_boolean()
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.step();
        self.inner.is_null()
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.step();
        self.inner.is_number()
    }

    #[inline]
    fn is_string(&self) -> bool {
        self.step();
        self.inner.is_string()
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        self.step();
        self.inner.json_type()
    }

    #[inline]
    fn string_length(&self) -> Option<u64> {
        let length = self.inner.string_length();
        let bytes = length.and_then(|length| usize::try_from(length).ok());
        if let Some(meter) = self.meter.meter() {
            meter.spend_read(bytes.unwrap_or(0));
        }
        length
    }

    /// Compares part by part, so that each part is counted and the first difference ends the
    /// comparison.
    fn equals_value(&self, expected: &Value) -> bool {
        match expected {
            Value::Array(expected) => self.as_array().is_some_and(|array| {
                array.len() == expected.len()
                    && array
                        .elements()
                        .zip(expected)
                        .all(|(element, expected)| element.equals_value(expected))
            }),
            Value::Object(expected) => self.as_object().is_some_and(|object| {
                object.len() == expected.len()
                    && object.members().all(|(name, member)| {
                        let expected = expected.get(name.as_ref());
                        expected.is_some_and(|expected| member.equals_value(expected))
                    })
            }),
            Value::Number(expected) => {
                let number = self.as_number();
                number.is_some_and(|number| numbers::equal(&number, expected))
            }
            _ => {
                self.step();
                self.inner.equals_value(expected)
            }
        }
    }

    // Only errors ask for the value, also through the default `lazy_value`. `const`, `enum` and
    // `uniqueItems` compare through `equals_value` and `is_unique`.
    fn to_value(&self) -> Cow<'a, Value> {
        self.error();
        Cow::Owned(Value::Null)
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        self.step();
        self.inner.identity()
    }

    #[inline]
    fn container_identity(&self) -> Option<NodeIdentity> {
        self.inner.container_identity()
    }
}

/// A counted object of `J`.
pub(super) struct CountedObject<'a, J: Json> {
    inner: <J::Node<'a> as Node<'a, J>>::Object,
    meter: Counter<'a>,
}

impl<'a, J: Json> Object<'a, Counted<J>> for CountedObject<'a, J> {
    type Node = CountedNode<'a, J>;
    type MemberName = <<J::Node<'a> as Node<'a, J>>::Object as Object<'a, J>>::MemberName;
    type MembersIter = Members<'a, J>;

    #[inline]
    fn len(&self) -> usize {
        self.inner.len()
    }

    #[inline]
    fn get(&self, key: &J::PreparedKey) -> Option<Self::Node> {
        self.meter.step();
        let inner = self.inner.get(key)?;
        Some(CountedNode {
            inner,
            meter: self.meter.clone(),
        })
    }

    #[inline]
    fn members(&self) -> Self::MembersIter {
        Members {
            inner: self.inner.members(),
            meter: self.meter.clone(),
        }
    }
}

/// The members of a [`CountedObject`].
pub(super) struct Members<'a, J: Json> {
    inner: <<J::Node<'a> as Node<'a, J>>::Object as Object<'a, J>>::MembersIter,
    meter: Counter<'a>,
}

impl<'a, J: Json> Iterator for Members<'a, J> {
    type Item = (
        <<J::Node<'a> as Node<'a, J>>::Object as Object<'a, J>>::MemberName,
        CountedNode<'a, J>,
    );

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, inner) = self.inner.next()?;
        if let Some(meter) = self.meter.meter() {
            meter.spend_name(name.as_ref().len());
        }
        Some((
            name,
            CountedNode {
                inner,
                meter: self.meter.clone(),
            },
        ))
    }
}

/// A counted array of `J`.
pub(super) struct CountedArray<'a, J: Json> {
    inner: <J::Node<'a> as Node<'a, J>>::Array,
    meter: Counter<'a>,
}

impl<'a, J: Json> Array<'a, Counted<J>> for CountedArray<'a, J> {
    type Node = CountedNode<'a, J>;
    type ElementsIter = Elements<'a, J>;

    #[inline]
    fn len(&self) -> usize {
        self.inner.len()
    }

    #[inline]
    fn elements(&self) -> Self::ElementsIter {
        Elements {
            inner: self.inner.elements(),
            meter: self.meter.clone(),
        }
    }

    /// Elements with deliberately equal hashes only exhaust the meter sooner.
    fn is_unique(&self) -> bool {
        let mut elements: Vec<_> = self
            .elements()
            .map(|element| (hash(&element), element))
            .collect();
        elements.sort_unstable_by_key(|(hash, _)| *hash);
        elements
            .chunk_by(|(one, _), (other, _)| one == other)
            .all(|alike| {
                let mut rest = alike.iter();
                std::iter::from_fn(|| rest.next().map(|(_, one)| (one, rest.clone())))
                    .all(|(one, mut rest)| !rest.any(|(_, other)| is_same(one, other)))
            })
    }
}

/// The elements of a [`CountedArray`].
pub(super) struct Elements<'a, J: Json> {
    inner: <<J::Node<'a> as Node<'a, J>>::Array as Array<'a, J>>::ElementsIter,
    meter: Counter<'a>,
}

impl<'a, J: Json> Iterator for Elements<'a, J> {
    type Item = CountedNode<'a, J>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.meter.step();
        let inner = self.inner.next()?;
        Some(CountedNode {
            inner,
            meter: self.meter.clone(),
        })
    }
}

/// A hash that is equal for equal values.
fn hash<J: Json>(node: &CountedNode<'_, J>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match node.json_type() {
        JsonType::Null => hasher.write_u8(0),
        JsonType::Boolean => node.as_boolean().hash(&mut hasher),
        JsonType::Integer | JsonType::Number => {
            let number = node.as_number();
            if let Some(number) = number {
                Exact::of(&number).hash(&mut hasher);
            }
        }
        JsonType::String => node.text().hash(&mut hasher),
        JsonType::Array => {
            hasher.write_u8(1);
            for element in node.as_array().iter().flat_map(Array::elements) {
                hasher.write_u64(hash(&element));
            }
        }
        JsonType::Object => {
            let members = node.as_object();
            let members = members.iter().flat_map(Object::members);
            // A sum, because the order of members does not matter.
            let sum = members.fold(2_u64, |sum, (name, member)| {
                let mut hasher = DefaultHasher::new();
                name.as_ref().hash(&mut hasher);
                hasher.write_u64(hash(&member));
                sum.wrapping_add(hasher.finish())
            });
            hasher.write_u64(sum);
        }
    }
    hasher.finish()
}

fn is_same<J: Json>(one: &CountedNode<'_, J>, other: &CountedNode<'_, J>) -> bool {
    let kind = one.json_type();
    if kind != other.json_type() {
        return false;
    }
    match kind {
        JsonType::Null => true,
        JsonType::Boolean => one.as_boolean() == other.as_boolean(),
        JsonType::Integer | JsonType::Number => match (one.as_number(), other.as_number()) {
            (Some(one), Some(other)) => numbers::equal(&one, &other),
            _ => false,
        },
        JsonType::String => one.text() == other.text(),
        JsonType::Array => match (one.as_array(), other.as_array()) {
            (Some(one), Some(other)) => {
                one.len() == other.len()
                    && one
                        .elements()
                        .zip(other.elements())
                        .all(|(one, other)| is_same(&one, &other))
            }
            _ => false,
        },
        JsonType::Object => match (one.as_object(), other.as_object()) {
            (Some(one), Some(other)) => {
                one.len() == other.len()
                    && sorted(&one).iter().zip(&sorted(&other)).all(
                        |((name, one), (other_name, other))| {
                            name.as_ref() == other_name.as_ref() && is_same(one, other)
                        },
                    )
            }
            _ => false,
        },
    }
}

type Member<'a, J> = <Members<'a, J> as Iterator>::Item;

/// The members of an object, sorted by their names.
fn sorted<'a, J: Json>(object: &CountedObject<'a, J>) -> Vec<Member<'a, J>> {
    let mut members: Vec<_> = object.members().collect();
    members.sort_unstable_by(|(one, _), (other, _)| one.as_ref().cmp(other.as_ref()));
    members
}
