//! Reads workloads of `bench/support/workloads.exs`, as JSON, into Rust's own structs and prints how long sonic-rs
//! takes to write each: `name microseconds` a line, processor time, the median of the rounds.
//!
//! `sonic_yardstick W2=<file> W4=<file> …`

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const ROUNDS: usize = 11;
const ROUND: Duration = Duration::from_millis(150);

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

fn main() -> Result<(), Failure> {
    for argument in std::env::args().skip(1) {
        let (name, file) = argument.split_once('=').ok_or("expected <workload>=<file>")?;
        let json = std::fs::read(file)?;
        let time = match name {
            "W1" => write::<Call>(&json)?,
            "W2" => write::<Tools>(&json)?,
            "W4" | "W6" => write::<Rows>(&json)?,
            _ => write::<Text>(&json)?,
        };
        println!("{name} {time:.3}");
    }
    Ok(())
}

/// Microseconds a call.
fn write<T: for<'de> Deserialize<'de> + Serialize>(json: &[u8]) -> Result<f64, Failure> {
    let value: T = sonic_rs::from_slice(json)?;
    let written = sonic_rs::to_vec(&value)?;
    // Speed says nothing before the answers agree; the order of members may differ, and so may floats.
    let (ours, theirs): (sonic_rs::Value, sonic_rs::Value) =
        (sonic_rs::from_slice(json)?, sonic_rs::from_slice(&written)?);
    if ours != theirs {
        return Err("sonic-rs does not write what it read".into());
    }
    let run = || sonic_rs::to_vec(black_box(&value)).map(|text| drop(black_box(text)));
    let calls = calls_per_round(run)?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        times.push(timed(run, calls)?.as_secs_f64() * 1e6 / f64::from(calls));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn calls_per_round(run: impl Fn() -> sonic_rs::Result<()>) -> Result<u32, Failure> {
    let mut calls = 1;
    loop {
        let time = timed(&run, calls)?;
        if time >= ROUND / 10 {
            let wanted = f64::from(calls) * ROUND.as_secs_f64() / time.as_secs_f64();
            return Ok((wanted as u32).max(1));
        }
        calls *= 4;
    }
}

/// Processor time of so many calls.
fn timed(run: impl Fn() -> sonic_rs::Result<()>, calls: u32) -> Result<Duration, Failure> {
    let before = processor_time()?;
    for _ in 0..calls {
        run()?;
    }
    Ok(processor_time()? - before)
}

fn processor_time() -> Result<Duration, Failure> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}
