//! The HTTP server: stateless, with answers in JSON, on hyper without a framework.

use std::convert::Infallible;
use std::io::Read;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};

use crate::{Bench, Outcome};

type Http = StreamableHttpService<Bench, NeverSessionManager>;

/// Prints the port and the process id, and serves until the end of stdin.
pub async fn serve(server: Bench) -> Outcome {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    let http = Http::new(move || Ok(server.clone()), Arc::default(), config);

    end_with_stdin();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{} {}", listener.local_addr()?.port(), std::process::id());
    loop {
        let (stream, _peer) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, http.clone()));
    }
}

/// Ends the server with its stdin, whose other end closes at the latest when the starting process ends.
fn end_with_stdin() {
    std::thread::spawn(|| {
        let _end = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}

async fn connection(stream: TcpStream, http: Http) -> Result<(), Infallible> {
    // The client handles broken connections.
    let _closed = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(http))
        .await;
    Ok(())
}
