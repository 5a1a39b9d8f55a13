//! The limits of one message.

use crate::json::Limits;
use crate::jsonrpc::EnvelopeLimits;

/// The limits of one message.
///
/// # Examples
/// ```
/// use mcp_core::protocol::MessageLimits;
///
/// let limits = MessageLimits { max_batch: 10, ..MessageLimits::default() };
/// assert_eq!(limits.max_uri_bytes, 8_192);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// The JSON text.
    pub json: Limits,
    /// The envelope. Progress tokens have the length limit of ids.
    pub envelope: EnvelopeLimits,
    /// Bytes of the name of a tool or prompt. Default: 128.
    pub max_name_bytes: usize,
    /// Bytes of a URI. Default: 8 KiB.
    pub max_uri_bytes: usize,
    /// Bytes of `_meta`, and of each of `clientInfo` and `capabilities` in `initialize`. Default:
    /// 16 KiB.
    pub max_meta_bytes: usize,
    /// URIs in the filter of `subscriptions/listen`. Default: 1,000.
    pub max_subscriptions: usize,
    /// Messages of a batch (2025-03-26, the only revision with batches). Default: 50.
    pub max_batch: usize,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            json: Limits::default(),
            envelope: EnvelopeLimits::default(),
            max_name_bytes: 128,
            max_uri_bytes: 8 * 1024,
            max_meta_bytes: 16 * 1024,
            max_subscriptions: 1_000,
            max_batch: 50,
        }
    }
}

impl MessageLimits {
    /// The same limits for a text of at most `bytes`.
    #[must_use]
    pub const fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.json.max_bytes = bytes;
        self
    }
}
