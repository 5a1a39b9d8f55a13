//! What is asked of the server, and compared with what is expected.

use std::process::ExitCode;

use rmcp::RoleClient;
use rmcp::service::{ClientServiceExt, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};

use crate::Era;
use crate::checks::Checks;
use crate::user::User;
use crate::wire::{Outcome, list, params, refused, steps, wire};

pub struct Meeting<'e> {
    pub era: Era,
    pub expected: &'e Value,
    pub user: User,
    pub client: RunningService<RoleClient, User>,
    pub checks: Checks,
}

pub async fn hold(era: Era, url: &str, expected: &Value) -> Outcome<ExitCode> {
    let user = User::new(era.revision(), &expected["answers"]);
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = user
        .clone()
        .serve_with_lifecycle(transport, era.lifecycle())
        .await?;
    let checks = Checks::new(format!("rmcp {} over HTTP", era.name()));
    let mut meeting = Meeting {
        era,
        expected,
        user,
        client,
        checks,
    };
    meeting.run().await?;
    let Meeting { client, checks, .. } = meeting;
    client.cancel().await?;
    Ok(checks.finish())
}

impl Meeting<'_> {
    async fn run(&mut self) -> Outcome {
        self.greeting()?;
        self.lists().await?;
        self.calls().await?;
        self.round_trips().await?;
        self.reads().await?;
        self.prompts().await?;
        self.completions().await?;
        self.refusals().await?;
        self.progress().await?;
        match self.era {
            Era::Legacy => {
                self.logging().await?;
                self.changes_in_a_session().await
            }
            Era::Modern => {
                println!(
                    "rmcp asks for no log messages of a single request: not tried with it in the modern era."
                );
                self.changes_on_a_stream().await
            }
        }
    }

    fn greeting(&mut self) -> Outcome {
        let info = wire(
            &self
                .client
                .peer_info()
                .ok_or("the server has not introduced itself")?,
        )?;
        self.checks.equal(
            "protocol version",
            &info["protocolVersion"],
            &json!(self.era.revision()),
        );
        for key in ["serverInfo", "instructions"] {
            self.checks.equal(key, &info[key], &self.expected[key]);
        }
        self.checks.equal(
            "capabilities",
            &info["capabilities"],
            &known(&self.expected["capabilities"][self.era.name()]),
        );
        Ok(())
    }

    async fn lists(&mut self) -> Outcome {
        let tools = wire(&self.client.list_tools(None).await?)?["tools"].take();
        let names = tools
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| tool["name"].clone());
        self.checks
            .equal("tools", &names.collect(), &self.expected["tools"]);
        for detail in list(&self.expected["toolDetails"]) {
            let tool = list(&tools)
                .iter()
                .find(|tool| tool["name"] == detail["name"]);
            self.checks.equal(
                &format!("tool {}", detail["name"]),
                tool.unwrap_or(&Value::Null),
                detail,
            );
        }
        let resources = wire(&self.client.list_resources(None).await?)?;
        self.checks.equal(
            "resources",
            &resources["resources"],
            &self.expected["resources"],
        );
        let templates = wire(&self.client.list_resource_templates(None).await?)?;
        self.checks.equal(
            "resource templates",
            &templates["resourceTemplates"],
            &self.expected["resourceTemplates"],
        );
        let prompts = wire(&self.client.list_prompts(None).await?)?;
        self.checks
            .equal("prompts", &prompts["prompts"], &self.expected["prompts"]);
        Ok(())
    }

    pub async fn call(&self, name: &Value, arguments: &Value) -> Outcome<Value> {
        wire(
            &self
                .client
                .call_tool(params(&json!({"name": name, "arguments": arguments}))?)
                .await?,
        )
    }

    async fn calls(&mut self) -> Outcome {
        for call in list(&self.expected["calls"]) {
            let result = self.call(&call["name"], &call["arguments"]).await?;
            self.checks
                .equal(&format!("call {}", call["name"]), &result, &call["result"]);
        }
        Ok(())
    }

    async fn round_trips(&mut self) -> Outcome {
        for call in list(&self.expected["roundTrips"]) {
            self.user.take();
            let result = self.call(&call["name"], &call["arguments"]).await?;
            let mut asked = self.user.take().asked;
            // The client may answer several requests at once.
            asked.sort_by_key(|request| request["method"].to_string());
            self.checks.equal(
                &format!("requests of {}", call["name"]),
                &Value::from(asked),
                &call["requests"],
            );
            self.checks.equal(
                &format!("result of {}", call["name"]),
                &result,
                &call["result"],
            );
        }
        Ok(())
    }

    async fn reads(&mut self) -> Outcome {
        for read in list(&self.expected["reads"]) {
            let result = wire(
                &self
                    .client
                    .read_resource(params(&json!({"uri": read["uri"]}))?)
                    .await?,
            )?;
            self.checks
                .equal(&format!("read {}", read["uri"]), &result, &read["result"]);
        }
        Ok(())
    }

    async fn prompts(&mut self) -> Outcome {
        for get in list(&self.expected["gets"]) {
            let asked = params(&json!({"name": get["name"], "arguments": get["arguments"]}))?;
            let result = wire(&self.client.get_prompt(asked).await?)?;
            self.checks
                .equal(&format!("get {}", get["name"]), &result, &get["result"]);
        }
        Ok(())
    }

    async fn completions(&mut self) -> Outcome {
        for complete in list(&self.expected["completions"]) {
            let asked = params(&json!({"ref": complete["ref"], "argument": complete["argument"]}))?;
            let result = wire(&self.client.complete(asked).await?)?;
            self.checks.equal(
                &format!("complete {}", complete["argument"]),
                &result,
                &complete["result"],
            );
        }
        Ok(())
    }

    async fn refusals(&mut self) -> Outcome {
        for refusal in list(&self.expected["refusals"]) {
            let asked = &refusal["arguments"];
            let answer = match refusal["method"].as_str() {
                Some("call_tool") => refused(self.client.call_tool(params(asked)?).await)?,
                Some("get_prompt") => refused(self.client.get_prompt(params(asked)?).await)?,
                _ => refused(self.client.read_resource(params(asked)?).await)?,
            };
            self.checks.equal(
                &format!("{} {asked}", refusal["method"]),
                &answer,
                &refusal[self.era.name()],
            );
        }
        Ok(())
    }

    async fn progress(&mut self) -> Outcome {
        self.user.take();
        let result = self
            .call(&json!("test_tool_with_progress"), &json!({}))
            .await?;
        let want = list(&self.expected["progress"]["steps"]);
        self.user.arrival(want.len(), |notes| &notes.progress).await;
        // The client handles notifications side by side.
        let got = steps(&self.user.take().progress);
        let want = steps(want);
        self.checks.equal("progress", &got, &want);
        self.checks.equal(
            "result with progress",
            &result,
            &self.expected["progress"]["result"],
        );
        Ok(())
    }

    async fn logging(&mut self) -> Outcome {
        self.client
            .set_level(params(&json!({"level": "debug"}))?)
            .await?;
        self.user.take();
        let result = self
            .call(&json!("test_tool_with_logging"), &json!({}))
            .await?;
        let want = &self.expected["logging"]["messages"];
        self.user
            .arrival(list(want).len(), |notes| &notes.logs)
            .await;
        let logs = self.user.take().logs;
        self.checks.equal("log messages", &Value::from(logs), want);
        self.checks.equal(
            "result with logging",
            &result,
            &self.expected["logging"]["result"],
        );
        Ok(())
    }
}

/// Capabilities without the tasks of 2025-11-25, which rmcp does not model.
fn known(capabilities: &Value) -> Value {
    let mut capabilities = capabilities.clone();
    if let Some(object) = capabilities.as_object_mut() {
        object.remove("tasks");
    }
    capabilities
}
