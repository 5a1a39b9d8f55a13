//! Stands in for the person and the model behind the client: answers by the table, and notes what it was asked.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorData, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

/// Ends a hang, and decides nothing else.
pub const FUSE: Duration = Duration::from_secs(30);

/// What the server has told and asked, in the order of its coming.
#[derive(Default)]
pub struct Notes {
    pub asked: Vec<Value>,
    pub progress: Vec<Value>,
    pub logs: Vec<Value>,
    pub notifications: Vec<Value>,
}

#[derive(Clone)]
pub struct User {
    config: Value,
    answers: Value,
    notes: Arc<Mutex<Notes>>,
}

impl User {
    pub fn new(revision: &str, answers: &Value) -> Self {
        let config = json!({
            "protocolVersion": revision,
            "capabilities": {"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}},
            "clientInfo": {"name": "conformance", "version": "1.0.0"}
        });
        Self {
            config,
            answers: answers.clone(),
            notes: Arc::default(),
        }
    }

    /// What was noted since the last time.
    pub fn take(&self) -> Notes {
        self.with(mem::take)
    }

    /// Waits until there are so many notes of a kind. If one is missing, the comparison that follows fails.
    pub async fn arrival(&self, count: usize, kind: impl Fn(&Notes) -> &Vec<Value>) {
        let arriving = async {
            while self.with(|notes| kind(notes).len()) < count {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(FUSE, arriving).await.ok();
    }

    fn with<T>(&self, use_notes: impl FnOnce(&mut Notes) -> T) -> T {
        use_notes(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ask(&self, method: &str, params: &impl Serialize) -> Result<(), ErrorData> {
        let mut params = to_value(params)?;
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
            // "form" is what a request without a mode means.
            params.remove("mode");
        }
        self.with(|notes| {
            notes
                .asked
                .push(json!({"method": method, "params": params}))
        });
        Ok(())
    }

    fn notice(&self, method: &str) {
        self.with(|notes| notes.notifications.push(Value::from(method)));
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        serde_json::from_value(self.config.clone()).unwrap_or_default()
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ask("elicitation/create", &params)?;
        let message = to_value(&params)?["message"].clone();
        let content = &self.answers["elicitation/create"][message.as_str().unwrap_or_default()];
        from_value(&json!({"action": "accept", "content": content}))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.ask("sampling/createMessage", &params)?;
        from_value(&self.answers["sampling/createMessage"])
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.with(|notes| notes.asked.push(json!({"method": "roots/list"})));
        from_value(&self.answers["roots/list"])
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let step = json!([params.progress, params.total, params.message]);
        self.with(|notes| notes.progress.push(step));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Ok(params) = to_value(&params) {
            self.with(|notes| notes.logs.push(params));
        }
    }

    async fn on_resource_updated(
        &self,
        _params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.notice("notifications/resources/updated");
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notice("notifications/tools/list_changed");
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.notice("notifications/prompts/list_changed");
    }
}

fn to_value(value: &impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(value).map_err(|error| internal(&error))
}

fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, ErrorData> {
    serde_json::from_value(value.clone()).map_err(|error| internal(&error))
}

fn internal(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
