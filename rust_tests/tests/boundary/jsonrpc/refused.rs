//! The id of a request whose JSON text is refused.

use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{EnvelopeLimits, Id, id_of_refused};
use proptest::prelude::*;

use crate::generated::config;

#[track_caller]
fn id(text: impl AsRef<[u8]>) -> Option<Id> {
    let text = text.as_ref();
    assert!(
        Document::scan(text, &Limits::default()).is_err(),
        "a text that is not refused: {}",
        String::from_utf8_lossy(text)
    );
    id_of_refused(text, &EnvelopeLimits::default())
}

/// A request with `value` among its parameters, and the id at both ends.
fn requests(value: &str) -> [String; 2] {
    [
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"x":{value}}}}}"#),
        format!(r#" {{ "params":{{"x":{value}}}, "method":"m", "jsonrpc":"2.0", "id" : 7 }} "#),
    ]
}

#[test]
fn every_well_formed_text_beyond_a_limit_keeps_its_id() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = "9".repeat(2_000);
    let many = format!("[{}1]", "1,".repeat(300_000));
    for value in [
        r#""\ud83d""#,
        r#""\udc00\ud800""#,
        "1e400",
        &deep,
        &long,
        &many,
    ] {
        for text in requests(value) {
            assert_eq!(id(&text), Some(Id::Number(7)));
        }
    }
}

// A flood of brackets would otherwise be read to its end.
#[test]
fn members_are_read_to_4096_levels() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for text in requests(&nested(4_095)) {
        assert_eq!(id(&text), Some(Id::Number(7)));
    }
    for text in requests(&nested(4_096)) {
        assert_eq!(id(&text), None);
    }
}

#[test]
fn a_fault_inside_a_value_does_not_hide_the_envelope() {
    for value in [
        "tru",
        "01",
        "+1",
        "NaN",
        "[1 2]",
        r#"{"a" 1}"#,
        r#""\x""#,
        "\"\t\"",
        "{]",
    ] {
        for text in requests(value) {
            assert_eq!(id(&text), Some(Id::Number(7)), "{value}");
        }
    }
    let latin = b"{\"id\":7,\"method\":\"m\",\"params\":{\"x\":\"caf\xe9\"}}";
    assert_eq!(id(latin), Some(Id::Number(7)));
    let brackets = r#"{"method":"m","params":{"x":"]}\"\\","y":"\ud800"},"id":"a,\"b"}"#;
    assert_eq!(id(brackets), Some(Id::Text("a,\"b".to_owned())));
    let escaped_key = r#"{"method":"m","\u0069d":7,"x":1e400}"#;
    assert_eq!(id(escaped_key), Some(Id::Number(7)));
    let whole = r#"{"\u006d\u0065\u0074\u0068\u006f\u0064":"m","\u0069\u0064":7,"x":1e400}"#;
    assert_eq!(id(whole), Some(Id::Number(7)));
    let cut = r#"{"method":"m","id":7,"x":"\"#;
    assert_eq!(id(cut), None);
}

#[test]
fn without_one_valid_id_there_is_none() {
    let quoted = |length: usize| format!("\"{}\"", "x".repeat(length));
    let request = |id: &str| format!(r#"{{"id":{id},"method":"m","x":1e400}}"#);
    assert_eq!(id(request(&quoted(256))), Some(Id::Text("x".repeat(256))));
    for refused in [
        &quoted(257),
        "1.5",
        "null",
        "{}",
        "1e400",
        r#""\ud800""#,
        "",
        "1 2",
    ] {
        assert_eq!(id(request(refused)), None, "{refused}");
    }
    for text in [
        r#"{"id":1,"id":1,"method":"m","x":1e400}"#,
        r#"{"id":1,"\u0069d":1,"method":"m","x":1e400}"#,
        r#"{"params":{"id":1},"method":"m","x":1e400}"#,
        r#"{"id":1,"method":"m","x":1e400"#,
        r#"{"id":1,"method":"m","x":1e400}}"#,
        r#"{"id":1,"method":"m","x":[1e400}"#,
        r#"{"id":1,"method":"m","x":"\ud800}"#,
        r#"{"id":1,"method":"m","x":1e400,}"#,
        r#"{"id":1,"method":"m","x":1e400} {}"#,
        r#"[{"id":1,"method":"m","x":1e400}]"#,
        r#"{"id" 1,"method":"m"}"#,
        r#"{id:1,"method":"m"}"#,
        "",
        "{",
        "{}x",
    ] {
        assert_eq!(id(text), None, "{text}");
    }
}

#[test]
fn an_answer_has_no_id_of_the_client() {
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":1,"result":{"x":1e400}}"#), None);
    assert_eq!(
        id(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1e400}}"#),
        None
    );
}

proptest! {
    #![proptest_config(config(1_000))]

    /// Any bytes are read to the end, and what is cut keeps no id.
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = id_of_refused(&bytes, &EnvelopeLimits::default());
        let text = [br#"{"method":"m","id":7,"x":"#.as_slice(), &bytes].concat();
        if let Some(id) = id_of_refused(&text, &EnvelopeLimits::default()) {
            prop_assert_eq!(id, Id::Number(7));
            prop_assert_eq!(id_of_refused(&text[..24], &EnvelopeLimits::default()), None);
        }
    }
}
