//! Values as they came over the wire, and as they go there.

use std::cmp::Ordering;
use std::error::Error;

use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What came over the wire, without what differs between the eras and is checked elsewhere.
pub fn wire(value: &impl Serialize) -> Outcome<Value> {
    let mut value = serde_json::to_value(value)?;
    if let Some(fields) = value.as_object_mut() {
        for key in ["_meta", "resultType", "ttlMs", "cacheScope"] {
            fields.remove(key);
        }
    }
    Ok(value)
}

/// Parameters of a request, from the table.
pub fn params<T: DeserializeOwned>(value: &Value) -> Outcome<T> {
    Ok(serde_json::from_value(value.clone())?)
}

/// An error's code and data, or the result that should not have been.
pub fn refused(answer: Result<impl Serialize, ServiceError>) -> Outcome<Value> {
    match answer {
        Ok(result) => Ok(json!({"result": wire(&result)?})),
        Err(ServiceError::McpError(error)) => Ok(json!({"code": error.code, "data": error.data})),
        Err(other) => Err(other.into()),
    }
}

/// A list of the table; nothing when it is none.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Steps of progress in order. The client has floats for all numbers, so the table's become floats too.
pub fn steps(steps: &[Value]) -> Value {
    let mut steps: Vec<_> = steps
        .iter()
        .map(|step| (step[0].as_f64(), step[1].as_f64(), &step[2]))
        .collect();
    steps.sort_by(|(a, ..), (b, ..)| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    json!(steps)
}
