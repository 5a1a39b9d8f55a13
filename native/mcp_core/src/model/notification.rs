//! The params of the notifications a server sends.

use serde_json::{Map, Number, Value};

use super::common::{Id, Meta};
use super::shape::Presence::Always;

object! {
    /// `notifications/progress`
    Progress / PROGRESS = "Notification.Progress" {
        /// The token the request came with.
        progress_token: Id => "progressToken" as "progress_token",
        /// How much is done; it never falls.
        progress: Number => "progress",
        /// How much there is.
        total: Option<Number> => "total",
        /// What is being done.
        message: Option<String> => "message" since V2025_03_26,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

names! {
    /// How serious a log message is (RFC 5424).
    LogLevel {
        /// Details for whoever looks for a fault.
        Debug = "debug",
        /// What happens.
        Info = "info",
        /// What happens and matters.
        Notice = "notice",
        /// Something looks wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part does not work.
        Critical = "critical",
        /// Somebody must act now.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

object! {
    /// `notifications/message`
    LogMessage / LOG_MESSAGE = "Notification.Message" {
        /// How serious it is.
        level: LogLevel => "level",
        /// Who says it.
        logger: Option<String> => "logger",
        /// What is said: any value, `null` too.
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
        /// The request that is given up.
        request_id: Id => "requestId" as "request_id",
        /// Why.
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
        /// The elicitation that is done.
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
        /// What will be sent: the part of the filter that is honoured.
        notifications: Map<String, Value> => "notifications",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
