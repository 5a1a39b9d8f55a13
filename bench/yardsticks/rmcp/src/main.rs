//! The benchmark's server on rmcp: stateless, answers in JSON, hyper without a framework in between.
//!
//! `rmcp_yardstick TOOLS` prints its port and its process id, and ends at the end of its stdin.

use std::convert::Infallible;
use std::error::Error;
use std::io::Read;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};

type Http = StreamableHttpService<Bench, NeverSessionManager>;

#[derive(Clone)]
struct Bench {
    tools: Arc<Vec<Tool>>,
}

impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("bench", "1.0.0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get("text"))
            .and_then(|text| text.as_str());
        match text {
            Some(text) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            None => Err(ErrorData::invalid_params("text is required", None)),
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.as_ref().clone()))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rmcp_yardstick TOOLS")?;
    let tools: Vec<Tool> = serde_json::from_slice(&std::fs::read(path)?)?;
    let server = Bench { tools: Arc::new(tools) };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation();
    let http = Http::new(move || Ok(server.clone()), Arc::default(), config);

    end_with_stdin();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(http))
}

/// Whoever started the server holds the other end of its stdin, and lets go of it at the latest by ending.
fn end_with_stdin() {
    std::thread::spawn(|| {
        let _end = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}

async fn serve(http: Http) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{} {}", listener.local_addr()?.port(), std::process::id());
    loop {
        let (stream, _peer) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream, http.clone()));
    }
}

async fn connection(stream: TcpStream, http: Http) -> Result<(), Infallible> {
    // A connection that breaks is the client's affair.
    let _closed = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(http))
        .await;
    Ok(())
}
