//! The benchmark's client over stdio: starts a server, writes prepared lines to it and counts the lines that come back.
//!
//! `stdio_client OPENING LINES COMMAND…` starts COMMAND and sends it the lines of the file OPENING, of which the server
//! answers the first. Then it reads one word per line from its stdin:
//!
//! - `ask` sends the first line of the file LINES and prints the answer
//! - `pipelined` sends all of them at once and prints three numbers: the microseconds until the last answer, the
//!   microseconds of the server's processor time, and the bytes of the answers
//! - `sequential` sends each after the previous answer and prints three numbers: the microseconds of processor time,
//!   and p50 and p99 of the round trips in nanoseconds
//!
//! At the end of its stdin it closes the server's stdin, and ends after the server.

mod server;

use std::error::Error;
use std::io::{BufRead, stdin};
use std::time::Instant;

use server::Server;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The lines for a server, each with its line end.
struct Lines(Vec<u8>);

impl Lines {
    fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split_inclusive(|byte| *byte == b'\n')
    }
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || {
        arguments
            .next()
            .ok_or("usage: stdio_client OPENING LINES COMMAND…")
    };
    let opening = std::fs::read(argument()?)?;
    let lines = Lines(std::fs::read(argument()?)?);
    let command = argument()?;
    let mut server = Server::start(&command, arguments)?;
    server.write(&opening)?;
    server.read_line()?;
    for word in stdin().lock().lines() {
        println!("{}", carry_out(&word?, &mut server, &lines)?);
    }
    server.end()
}

fn carry_out(word: &str, server: &mut Server, lines: &Lines) -> Outcome<String> {
    match word {
        "ask" => {
            server.write(lines.each().next().ok_or("there is nothing to ask")?)?;
            server.read_line()
        }
        "pipelined" => pipelined(server, lines),
        "sequential" => sequential(server, lines),
        _ => Err(format!("unknown word {word:?}").into()),
    }
}

fn pipelined(server: &mut Server, lines: &Lines) -> Outcome<String> {
    let count = lines.each().count();
    let processor = server.processor_us()?;
    let start = Instant::now();
    let bytes = server.exchange(&lines.0, count)?;
    let elapsed = start.elapsed().as_micros();
    let processor = server.processor_us()?.saturating_sub(processor);
    Ok(format!("{elapsed} {processor} {bytes}"))
}

fn sequential(server: &mut Server, lines: &Lines) -> Outcome<String> {
    let processor = server.processor_us()?;
    let mut times = Vec::new();
    for line in lines.each() {
        let start = Instant::now();
        server.write(line)?;
        server.skip_line()?;
        times.push(start.elapsed().as_nanos());
    }
    let processor = server.processor_us()?.saturating_sub(processor);
    times.sort_unstable();
    let percentile = |percent: usize| times.get(times.len() * percent / 100).copied();
    let half = percentile(50).ok_or("there is nothing to ask")?;
    let most = percentile(99).ok_or("there is nothing to ask")?;
    Ok(format!("{processor} {half} {most}"))
}
