//! JSON-RPC envelopes as objects, for users who build them by hand. [`crate::jsonrpc`] frames the
//! library's messages.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::common::Id;
use super::member::{Member, Members};
use super::shape::Presence::{Always, NullBefore, Optional, Unless};
use super::{Field, Kind, Shape};
use crate::revision::Revision;

names! {
    /// The version of JSON-RPC.
    Version {
        /// 2.0.
        V2 = "2.0",
    }
}

object! {
    /// A request; without an id, a notification.
    RpcRequest / RPC_REQUEST = "JsonRpc.Request" {
        /// The version.
        jsonrpc: Version => "jsonrpc" = Always("\"2.0\""),
        /// The method.
        method: String => "method",
        /// The parameters: an object or an array.
        params: Option<Value> => "params",
        /// The request's id.
        id: Option<Id> => "id",
    }
}

object! {
    /// The error of a failed request.
    RpcError / RPC_ERROR = "JsonRpc.Error" {
        /// The error code.
        code: i64 => "code",
        /// The error text.
        message: String => "message",
        /// Details of the error.
        data: Option<Value> => "data",
    }
}

/// A response: the type allows either a result or an error.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcResponse {
    /// The result or the error.
    pub outcome: Result<Value, RpcError>,
    /// The request's id; `None` if it is unknown.
    pub id: Option<Id>,
}

/// The wire shape of [`RpcResponse`].
pub static RPC_RESPONSE: Shape = Shape {
    name: "JsonRpc.Response",
    tag: None,
    fields: &[
        field("jsonrpc", Version::KIND, Always("\"2.0\"")),
        field("result", Kind::Any, Unless("error", "{}")),
        field("error", RpcError::KIND, Optional),
        field("id", Kind::Id, NullBefore(Revision::V2025_11_25)),
    ],
    since: Revision::V2024_11_05,
    until: Revision::NEWEST,
    fallback: None,
    one_of: &["result", "error"],
};

const fn field(wire: &'static str, kind: Kind, presence: super::Presence) -> Field {
    let (since, until) = (Revision::V2024_11_05, Revision::NEWEST);
    Field {
        name: wire,
        wire,
        kind,
        presence,
        since,
        until,
    }
}

impl RpcResponse {
    /// The wire shape of the object.
    pub const SHAPE: &'static Shape = &RPC_RESPONSE;

    /// The response as JSON text, without an unknown id.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        super::encode(self)
    }

    /// The response as JSON text for that revision: before 2025-11-25 an unknown id is `null`.
    #[must_use]
    pub fn encode_at(&self, revision: Revision) -> Vec<u8> {
        super::encode_at(&RPC_RESPONSE, self, revision)
    }
}

impl Serialize for RpcResponse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", &Version::V2)?;
        match &self.outcome {
            Ok(Value::Null) => map.serialize_entry("result", &Map::new())?,
            Ok(result) => map.serialize_entry("result", result)?,
            Err(error) => map.serialize_entry("error", error)?,
        }
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RpcResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read::<D>(deserializer, None)?;
        let _: Version = members.take("jsonrpc", Always("\"2.0\""))?;
        let id = members.take("id", Optional)?;
        let result: Option<Value> = members.take("result", Optional)?;
        let error: Option<RpcError> = members.take("error", Optional)?;
        match (result, error) {
            (Some(_), Some(_)) => Err(serde::de::Error::custom(
                "expected either result or error, not both",
            )),
            (_, Some(error)) => Ok(Self {
                outcome: Err(error),
                id,
            }),
            (result, None) => Ok(Self {
                outcome: Ok(result.unwrap_or_else(|| Map::new().into())),
                id,
            }),
        }
    }
}
