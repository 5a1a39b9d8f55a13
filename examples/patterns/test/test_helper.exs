# What is not as it says of itself is a failure here, and a warning in the log elsewhere.
Application.put_env(:mcp_server, :presentation_mismatch, :raise)
ExUnit.start()
