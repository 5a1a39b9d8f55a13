//! JSON-RPC envelopes as objects.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{Value, from_value, json};

use super::{encoded, text};

// req: S4-50
#[test]
fn a_connection_has_no_wire_shape() {
    assert!(shape("Conn").is_none());
}

// req: S4-52
#[test]
fn params_and_id_are_left_out_when_nil() {
    let request = |value| text(from_value::<RpcRequest>(value).unwrap().encode());
    assert_eq!(
        request(json!({"method": "ping"})),
        r#"{"jsonrpc":"2.0","method":"ping"}"#
    );
    assert_eq!(
        request(json!({"method": "m", "params": [1], "id": "a"})),
        r#"{"jsonrpc":"2.0","method":"m","params":[1],"id":"a"}"#
    );
    let error = from_value::<RpcRequest>(json!({"jsonrpc": "1.0", "method": "m"})).unwrap_err();
    assert_eq!(error.to_string(), "jsonrpc: expected one of 2.0");
}

// req: S4-52
#[test]
fn ids_of_64_bits_are_exact() {
    for id in [json!(i64::MIN), json!(u64::MAX), json!(0), json!("")] {
        let request: RpcRequest = from_value(json!({"method": "m", "id": id})).unwrap();
        assert_eq!(
            text(request.encode()),
            format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#)
        );
    }
    assert!(from_value::<RpcRequest>(json!({"method": "m", "id": 1.0})).is_err());
    assert!(from_value::<RpcRequest>(json!({"method": "m", "id": true})).is_err());
}

// req: S4-53, RES-10
#[test]
fn exactly_one_of_result_and_error() {
    let response = |outcome| RpcResponse {
        outcome,
        id: Some(Id::Integer(1)),
    };
    assert_eq!(
        text(response(Ok(json!(7))).encode()),
        r#"{"jsonrpc":"2.0","result":7,"id":1}"#
    );
    // A success without a result still has one.
    let empty = r#"{"jsonrpc":"2.0","result":{},"id":1}"#;
    assert_eq!(text(response(Ok(Value::Null)).encode()), empty);
    assert_eq!(
        encoded(&RPC_RESPONSE, &json!({"id": 1}), Revision::NEWEST),
        empty
    );
    let both = json!({"result": 1, "error": {"code": 1, "message": "m"}, "id": 1});
    assert_eq!(
        from_value::<RpcResponse>(both).unwrap_err().to_string(),
        "expected either result or error, not both"
    );
}

// req: S4-53, RES-09
#[test]
fn an_unknown_id_is_null_before_2025_11_25_and_left_out_from_then_on() {
    let error = RpcError {
        code: -32700,
        message: "Parse error".to_owned(),
        data: None,
    };
    let response = RpcResponse {
        outcome: Err(error),
        id: None,
    };
    let head = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}"#;
    for revision in Revision::ALL {
        let tail = if revision < Revision::V2025_11_25 {
            r#","id":null}"#
        } else {
            "}"
        };
        assert_eq!(text(response.encode_at(revision)), format!("{head}{tail}"));
    }
}

// req: S4-54
#[test]
fn data_is_left_out_when_nil_and_the_code_is_an_integer() {
    let error = |value| from_value::<RpcError>(value);
    let bare = error(json!({"code": -32000, "message": "m"})).unwrap();
    assert_eq!(text(bare.encode()), r#"{"code":-32000,"message":"m"}"#);
    let full = error(json!({"code": 1, "message": "m", "data": false})).unwrap();
    assert_eq!(
        text(full.encode()),
        r#"{"code":1,"message":"m","data":false}"#
    );
    assert!(error(json!({"code": 1.5, "message": "m"})).is_err());
    assert!(error(json!({"code": "1", "message": "m"})).is_err());
}
