//! What reading a head costs. The figure is for people: a test that fails on a slow machine helps nobody.

use std::hint::black_box;
use std::time::Instant;

use mcp_core::http1::{Limits, read_head};

const HEAD: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: localhost:4040\r\nUser-Agent: python-httpx/0.28.1\r\n\
    Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nAccept-Encoding: gzip, deflate\r\n\
    Connection: keep-alive\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n\
    Content-Length: 182\r\n\r\n";

/// `cargo test --release -p rust_tests -- --ignored --nocapture a_head_takes`
#[test]
#[ignore = "prints a figure"]
fn a_head_takes_well_below_a_microsecond() {
    const ROUNDS: u32 = 2_000_000;
    let limits = Limits::default();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        assert!(read_head(black_box(HEAD), 0, &limits).is_ok());
    }
    let nanoseconds = start.elapsed().as_nanos() / u128::from(ROUNDS);
    println!("a head of {} bytes: {nanoseconds} ns", HEAD.len());
}
