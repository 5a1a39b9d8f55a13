//! The yardsticks of `bin/bench json` and `bin/bench schema`: sonic-rs with native structs, and `serde_json::Value`.
//!
//! `sonic_yardstick W2=<file> … 'rows=<schema file>,<file>'` reads workloads of `bench/support/workloads.exs` as JSON.
//! Then it reads a line of stdin for each measurement: the number of calls, a space and the task. It answers with the
//! microseconds of processor time and of wall time for all calls.
//!
//! | task | |
//! |---|---|
//! | `encode sonic-rs W2` | from the structs below |
//! | `encode Value W2` | from a `serde_json::Value`, by `serde_json` |
//! | `decode sonic-rs W2` | into the structs below |
//! | `decode Value W2` | into a `serde_json::Value`, by `serde_json` |
//! | `validate rows` | a `serde_json::Value` that is there, by the `jsonschema` crate |

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize, Serialize)]
struct Call {
    jsonrpc: String,
    id: u64,
    method: String,
    params: Params,
}

#[derive(Deserialize, Serialize)]
struct Params {
    name: String,
    arguments: Arguments,
    #[serde(rename = "_meta")]
    meta: BTreeMap<String, String>,
}

#[derive(Deserialize, Serialize)]
struct Arguments {
    query: String,
    limit: u64,
    exact: bool,
    tags: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct Tools {
    tools: Vec<Tool>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    name: String,
    description: String,
    input_schema: Schema,
    annotations: Annotations,
}

#[derive(Deserialize, Serialize)]
struct Schema {
    #[serde(rename = "type")]
    kind: String,
    properties: BTreeMap<String, Property>,
    required: Vec<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<u64>,
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Box<Property>>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    title: String,
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    content: Vec<TextContent>,
    is_error: bool,
}

#[derive(Deserialize, Serialize)]
struct TextContent {
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rows {
    structured_content: Structured,
    is_error: bool,
}

#[derive(Deserialize, Serialize)]
struct Structured {
    rows: Vec<Row>,
}

#[derive(Deserialize, Serialize)]
struct Row {
    id: u64,
    name: String,
    email: String,
    balance: f64,
    active: bool,
}

type Failure = Box<dyn std::error::Error>;
type Task = Box<dyn Fn() -> Result<(), Failure>>;
type Tasks = BTreeMap<String, Task>;

fn main() -> Result<(), Failure> {
    let mut tasks = Tasks::new();
    for argument in std::env::args().skip(1) {
        let (name, files) = argument.split_once('=').ok_or("expected <workload>=<file>")?;
        match (name, files.split_once(',')) {
            (_, Some((schema, value))) => add_validation(&mut tasks, name, schema, value)?,
            ("W1", None) => add::<Call>(&mut tasks, name, files)?,
            ("W2", None) => add::<Tools>(&mut tasks, name, files)?,
            ("W4" | "W6", None) => add::<Rows>(&mut tasks, name, files)?,
            (_, None) => add::<Text>(&mut tasks, name, files)?,
        }
    }
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (calls, task) = line.split_once(' ').ok_or("expected <calls> <task>")?;
        let task = tasks.get(task).ok_or("no such task")?;
        let (processor, clock) = measure(task, calls.parse()?)?;
        println!("{:.3} {:.3}", micros(processor), micros(clock));
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Adds the tasks of a workload, if the written text equals the read text: only equal answers can be compared.
fn add<T>(tasks: &mut Tasks, name: &str, file: &str) -> Result<(), Failure>
where
    T: for<'de> Deserialize<'de> + Serialize + 'static,
{
    let json = std::fs::read(file)?;
    let native: T = sonic_rs::from_slice(&json)?;
    let tree: Value = serde_json::from_slice(&json)?;
    // The order of members may differ, and so may the spelling of floats.
    for written in [sonic_rs::to_vec(&native)?, serde_json::to_vec(&tree)?] {
        if serde_json::from_slice::<Value>(&written)? != tree {
            return Err("what was written is not what was read".into());
        }
    }
    let (text, also) = (json.clone(), json);
    let mut put = |what: &str, task: Task| tasks.insert(format!("{what} {name}"), task);
    put("encode sonic-rs", Box::new(move || keep(sonic_rs::to_vec(black_box(&native))?)));
    put("encode Value", Box::new(move || keep(serde_json::to_vec(black_box(&tree))?)));
    put("decode sonic-rs", Box::new(move || keep(sonic_rs::from_slice::<T>(black_box(&text))?)));
    put("decode Value", Box::new(move || keep(serde_json::from_slice::<Value>(black_box(&also))?)));
    Ok(())
}

fn add_validation(tasks: &mut Tasks, name: &str, schema: &str, value: &str) -> Result<(), Failure> {
    let schema: Value = serde_json::from_slice(&std::fs::read(schema)?)?;
    let value: Value = serde_json::from_slice(&std::fs::read(value)?)?;
    let validator = jsonschema::validator_for(&schema)?;
    let task: Task = Box::new(move || {
        if validator.is_valid(black_box(&value)) { Ok(()) } else { Err("it should be valid".into()) }
    });
    task()?;
    tasks.insert(format!("validate {name}"), task);
    Ok(())
}

/// Drops the result within the measured time.
fn keep<T>(value: T) -> Result<(), Failure> {
    drop(black_box(value));
    Ok(())
}

/// The processor time and wall time of `calls` calls.
fn measure(task: &Task, calls: u32) -> Result<(Duration, Duration), Failure> {
    let (processor, clock) = (processor_time()?, Instant::now());
    for _ in 0..calls {
        task()?;
    }
    Ok((processor_time()? - processor, clock.elapsed()))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn processor_time() -> Result<Duration, Failure> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}
