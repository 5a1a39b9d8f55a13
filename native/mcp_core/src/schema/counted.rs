//! A representation around another one that counts every look and shows no value.
//!
//! The validator sees values only through this. Each look costs a step of the [`Meter`], and where
//! an error would carry the value at fault it gets `null` instead, so that no received value can
//! end up in an error text and none is copied to build one.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::rc::Rc;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use serde_json::Value;

use super::meter::Meter;

/// Bytes of a string that cost one step more: about what a pattern reads in the time of a step.
const BYTES_A_STEP: usize = 16;

/// The counted form of the representation `J`.
pub(super) struct Counted<J>(PhantomData<fn() -> J>);

/// Where looks are counted.
#[derive(Clone)]
enum Counter<'a> {
    /// With the caller, who keeps it for as long as the value: half of the time of counting is saved.
    Lent(&'a Meter),
    Shared(Rc<Meter>),
    /// Nowhere, for property names: they are checked through a buffer that knows no check, which is
    /// why [`super::survey`] bounds what `propertyNames` may cost.
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

    /// Spends a step, and more for bytes.
    #[inline]
    fn spend(&self, bytes: usize) {
        if let Some(meter) = self.meter() {
            let extra = u64::try_from(bytes / BYTES_A_STEP).unwrap_or(u64::MAX);
            meter.spend(extra.saturating_add(1));
        }
    }
}

/// A node of `J`, counted.
pub(super) struct CountedNode<'a, J: Json> {
    inner: J::Node<'a>,
    meter: Counter<'a>,
}

impl<'a, J: Json> CountedNode<'a, J> {
    /// Counts what is done with `inner` on `meter`.
    pub(super) fn new(inner: J::Node<'a>, meter: &Rc<Meter>) -> Self {
        Self {
            inner,
            meter: Counter::Shared(Rc::clone(meter)),
        }
    }

    /// As [`CountedNode::new`], with a meter that stays with the caller.
    pub(super) fn lent(inner: J::Node<'a>, meter: &'a Meter) -> Self {
        Self {
            inner,
            meter: Counter::Lent(meter),
        }
    }

    #[inline]
    fn step(&self) {
        self.meter.spend(0);
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
        self.meter
            .spend(string.as_ref().map_or(0, |string| string.len()));
        string
    }

    #[inline]
    fn as_number(&self) -> Option<Self::Number> {
        self.step();
        self.inner.as_number()
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
        self.meter.spend(bytes.unwrap_or(0));
        length
    }

    #[inline]
    fn equals_value(&self, expected: &Value) -> bool {
        self.step();
        self.inner.equals_value(expected)
    }

    // Only errors ask for the value, the default `lazy_value` included: `const`, `enum` and
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

/// An object of `J`, counted.
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
        self.meter.spend(0);
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
        self.meter.spend(name.as_ref().len());
        Some((
            name,
            CountedNode {
                inner,
                meter: self.meter.clone(),
            },
        ))
    }
}

/// An array of `J`, counted.
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

    fn is_unique(&self) -> bool {
        self.meter
            .spend(self.inner.len().saturating_mul(BYTES_A_STEP));
        self.inner.is_unique()
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
        self.meter.spend(0);
        let inner = self.inner.next()?;
        Some(CountedNode {
            inner,
            meter: self.meter.clone(),
        })
    }
}
