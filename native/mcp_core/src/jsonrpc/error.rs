//! Writing error responses.

use super::Id;
use crate::json::{write_integer, write_string};
use crate::revision::Revision;

/// Appends an error response; `data` is JSON text.
///
/// Without an id, the member is omitted from 2025-11-25 on, as that revision's schema requires.
/// Before, it is `null`, as JSON-RPC requires.
///
/// # Examples
/// ```
/// use mcp_core::{jsonrpc::write_error, revision::Revision};
///
/// let mut out = Vec::new();
/// write_error(&mut out, None, Revision::V2025_06_18, -32700, "Parse error", None);
/// assert_eq!(
///     out,
///     br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#
/// );
/// ```
pub fn write_error(
    out: &mut Vec<u8>,
    id: Option<&Id>,
    revision: Revision,
    code: i32,
    message: &str,
    data: Option<&[u8]>,
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    match id {
        Some(id) => {
            out.extend_from_slice(br#","id":"#);
            id.write(out);
        }
        None if revision >= Revision::V2025_11_25 => {}
        None => out.extend_from_slice(br#","id":null"#),
    }
    out.extend_from_slice(br#","error":{"code":"#);
    write_integer(out, i64::from(code));
    out.extend_from_slice(br#","message":"#);
    write_string(out, message);
    if let Some(data) = data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data);
    }
    out.extend_from_slice(b"}}");
}
