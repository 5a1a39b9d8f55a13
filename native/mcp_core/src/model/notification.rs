//! The params of notifications from the server.

use serde_json::{Map, Number, Value};

use super::common::{Id, Meta};
use super::shape::Presence::Always;

object! {
    /// `notifications/progress`
    Progress / PROGRESS = "Notification.Progress" {
        /// The token of the request.
        progress_token: Id => "progressToken" as "progress_token",
        /// The amount done; it never decreases.
        progress: Number => "progress",
        /// The total amount.
        total: Option<Number> => "total",
        /// A description of the current step.
        message: Option<String> => "message" since V2025_03_26,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

names! {
    /// The severity of a log message (RFC 5424).
    LogLevel {
        /// Details for debugging.
        Debug = "debug",
        /// A normal event.
        Info = "info",
        /// A normal but significant event.
        Notice = "notice",
        /// A possible problem.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A component has failed.
        Critical = "critical",
        /// Immediate action is necessary.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

object! {
    /// `notifications/message`
    LogMessage / LOG_MESSAGE = "Notification.Message" {
        /// The severity.
        level: LogLevel => "level",
        /// The name of the logger.
        logger: Option<String> => "logger",
        /// The message: any value, also `null`.
        data: Value => "data" = Always("null"),
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// `notifications/resources/updated`
    ResourceUpdated / RESOURCE_UPDATED = "Notification.ResourceUpdated" {
        /// The resource that changed.
        uri: String => "uri",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// `notifications/cancelled`
    Cancelled / CANCELLED = "Notification.Cancelled" {
        /// The cancelled request.
        request_id: Id => "requestId" as "request_id",
        /// The reason.
        reason: Option<String> => "reason",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// The params of the three notifications that a list has changed.
    #[derive(Default)]
    ListChanged / LIST_CHANGED = "Notification.ListChanged" {
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// `notifications/elicitation/complete`
    ElicitationComplete / ELICITATION_COMPLETE = "Notification.ElicitationComplete"
        since V2025_11_25 until V2025_11_25
    {
        /// The completed elicitation.
        elicitation_id: String => "elicitationId" as "elicitation_id",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// `notifications/subscriptions/acknowledged`
    SubscriptionsAcknowledged / SUBSCRIPTIONS_ACKNOWLEDGED =
        "Notification.SubscriptionsAcknowledged" since V2026_07_28
    {
        /// The accepted part of the filter: the notifications that the server will send.
        notifications: Map<String, Value> => "notifications",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
