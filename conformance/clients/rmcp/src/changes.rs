//! Changes on the server, and how the client learns of them.

use rmcp::model::SubscriptionFilter;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::meeting::Meeting;
use crate::user::FUSE;
use crate::wire::{Outcome, list, params, wire};

impl Meeting<'_> {
    /// Makes one change after the other, and gives what the client has noted of them. The server may merge changes
    /// until they are read, so each is waited for.
    async fn announce(&self, changes: &[&Value]) -> Outcome<Vec<Value>> {
        for (place, change) in changes.iter().enumerate() {
            self.call(&change["tool"], &json!({})).await?;
            self.user
                .arrival(place + 1, |notes| &notes.notifications)
                .await;
        }
        Ok(self.user.take().notifications)
    }

    pub async fn changes_in_a_session(&mut self) -> Outcome {
        let watched = &self.expected["watched"];
        let lists: Vec<&Value> = list(&self.expected["changes"]).iter().collect();
        let all = [lists.as_slice(), &[watched]].concat();
        self.user.take();
        self.client
            .subscribe(params(&json!({"uri": watched["uri"]}))?)
            .await?;
        let told = self.announce(&all).await?;
        self.checks.equal(
            "change notifications",
            &Value::from(told),
            &Value::from(names(&all)),
        );

        self.client
            .unsubscribe(params(&json!({"uri": watched["uri"]}))?)
            .await?;
        self.call(&watched["tool"], &json!({})).await?;
        // The later changes are told, and nothing before them.
        let told = self.announce(&lists).await?;
        self.checks.equal(
            "notifications after unsubscribing",
            &Value::from(told),
            &Value::from(names(&lists)),
        );
        Ok(())
    }

    pub async fn changes_on_a_stream(&mut self) -> Outcome {
        let watched = &self.expected["watched"];
        let [tools, prompts] = list(&self.expected["changes"]) else {
            return Err("two lists change".into());
        };
        let wanted = json!({"promptsListChanged": true, "resourceSubscriptions": [watched["uri"]]});
        let mut stream = self
            .client
            .listen(params::<SubscriptionFilter>(&wanted)?)
            .await?;
        self.checks
            .equal("honoured filter", &wire(stream.acknowledged())?, &wanted);
        self.call(&tools["tool"], &json!({})).await?;
        // The second half shows that the first has brought nothing more.
        let announced = [prompts, watched, watched, prompts];
        let mut seen = Vec::new();
        for change in announced {
            self.call(&change["tool"], &json!({})).await?;
            let Ok(event) = timeout(FUSE, stream.next()).await else {
                break;
            };
            let Some(event) = event? else { break };
            seen.push(wire(&event)?["method"].take());
        }
        let want = Value::from(names(&announced));
        self.checks.equal("events", &Value::from(seen), &want);
        stream.cancel().await?;
        Ok(())
    }
}

fn names(changes: &[&Value]) -> Vec<Value> {
    changes
        .iter()
        .map(|change| change["notification"].clone())
        .collect()
}
