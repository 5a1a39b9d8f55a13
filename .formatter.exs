# The statements of the router's DSL.
locals_without_parens = [
  annotations: 1,
  app_domain: 1,
  argument: :*,
  complete: :*,
  csp: 1,
  description: 1,
  dual_responses: 1,
  dual_responses: 2,
  field: :*,
  get: :*,
  icons: 1,
  input: 1,
  input_field: :*,
  input_schema: 1,
  items: :*,
  kind: 2,
  lint: 1,
  meta: 1,
  mimeType: 1,
  mime_type: 1,
  output: 1,
  output_field: :*,
  output_schema: 1,
  permissions: 1,
  plug: 1,
  plug: 2,
  prefers_border: 1,
  prompt: :*,
  read: :*,
  resource: :*,
  run: 1,
  size: 1,
  title: 1,
  tool: :*
]

[
  inputs: ["{mix,.formatter}.exs", "native/*.exs", "native/build/*.exs", "{lib,test,bench,stress}/**/*.{ex,exs}"],
  line_length: 120,
  locals_without_parens: locals_without_parens,
  export: [locals_without_parens: locals_without_parens]
]
