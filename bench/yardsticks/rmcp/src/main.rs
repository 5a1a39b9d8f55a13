//! The benchmark's server on rmcp. It ends at the end of its stdin.
//!
//! - `rmcp_yardstick TOOLS` serves HTTP and prints its port and its process id
//! - `rmcp_yardstick TOOLS stdio` serves its stdin and stdout as in the SDK's examples, and
//!   `rmcp_yardstick TOOLS pipes` as the SDK serves pipes

mod http;

use std::error::Error;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::{IntoTransport, stdio, stdio_pipes};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

type Outcome = Result<(), Box<dyn Error>>;

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

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .ok_or("usage: rmcp_yardstick TOOLS [stdio | pipes]")?;
    let tools: Vec<Tool> = serde_json::from_slice(&std::fs::read(path)?)?;
    let server = Bench {
        tools: Arc::new(tools),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match arguments.next().as_deref() {
            None => http::serve(server).await,
            Some("stdio") => serve(server, stdio()).await,
            Some("pipes") => serve(server, stdio_pipes()).await,
            Some(other) => Err(format!("there is no {other:?}").into()),
        }
    })
}

async fn serve<T, E, A>(server: Bench, transport: T) -> Outcome
where
    T: IntoTransport<RoleServer, E, A>,
    E: Error + Send + Sync + 'static,
{
    server.serve(transport).await?.waiting().await?;
    Ok(())
}
