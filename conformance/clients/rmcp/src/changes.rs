//! Changes on the server, and how the client learns of them.

use rmcp::model::SubscriptionFilter;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::meeting::{Meeting, SETTLED};
use crate::wire::{Outcome, list, params, wire};

impl Meeting<'_> {
    /// Calls what makes each list and the watched resource change.
    async fn change_everything(&self) -> Outcome {
        for change in list(&self.expected["changes"]) {
            self.call(&change["tool"], &json!({})).await?;
        }
        self.call(&self.expected["watched"]["tool"], &json!({}))
            .await?;
        Ok(())
    }

    pub async fn changes_in_a_session(&mut self) -> Outcome {
        let watched = &self.expected["watched"];
        self.user.take();
        self.client
            .subscribe(params(&json!({"uri": watched["uri"]}))?)
            .await?;
        self.change_everything().await?;
        sleep(SETTLED).await;
        let mut want: Vec<Value> = list(&self.expected["changes"])
            .iter()
            .map(|c| c["notification"].clone())
            .collect();
        want.push(watched["notification"].clone());
        self.checks.equal(
            "change notifications",
            &in_any_order(self.user.take().notifications),
            &in_any_order(want),
        );

        self.client
            .unsubscribe(params(&json!({"uri": watched["uri"]}))?)
            .await?;
        self.call(&watched["tool"], &json!({})).await?;
        sleep(SETTLED).await;
        let late = self.user.take().notifications;
        self.checks.equal(
            "notifications after unsubscribing",
            &Value::from(late),
            &json!([]),
        );
        Ok(())
    }

    pub async fn changes_on_a_stream(&mut self) -> Outcome {
        let watched = &self.expected["watched"];
        let wanted = json!({"promptsListChanged": true, "resourceSubscriptions": [watched["uri"]]});
        let mut stream = self
            .client
            .listen(params::<SubscriptionFilter>(&wanted)?)
            .await?;
        self.checks
            .equal("honoured filter", &wire(stream.acknowledged())?, &wanted);
        self.change_everything().await?;
        let mut seen = Vec::new();
        // Half a second without an event ends the wait.
        while let Ok(event) = timeout(SETTLED, stream.next()).await {
            let Some(event) = event? else { break };
            seen.push(wire(&event)?["method"].take());
        }
        let want = json!([
            "notifications/prompts/list_changed",
            watched["notification"]
        ]);
        self.checks.equal("events", &Value::from(seen), &want);
        stream.cancel().await?;
        Ok(())
    }
}

/// The client handles each notification in a task of its own, so their order says nothing of the server's.
fn in_any_order(mut notifications: Vec<Value>) -> Value {
    notifications.sort_by_key(Value::to_string);
    Value::from(notifications)
}
