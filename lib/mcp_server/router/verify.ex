defmodule McpServer.Router.Verify do
  @moduledoc false
  # Checks a router after all other modules were compiled: whether its named functions exist, and whether the core can
  # serve it. Entries that the core can serve but clients will refuse cause warnings.

  alias McpServer.Catalog
  alias McpServer.Router.{Arguments, Handler, LintRules, Places, Plugs, Refusal}
  alias Mix.McpServer.RefusedRouter

  @doc "Refuses a faulty router, with all errors at the lines of their declarations."
  @spec verify!(module) :: :ok
  def verify!(router) do
    places = router.__mcp__(:places)
    # The core's check needs the structs and plugs, so it comes after their checks.
    faults = unusable(places) ++ misfits(places)
    others = if faults == [], do: unservable(router, places), else: []
    problems = Enum.sort_by(missing(places) ++ faults ++ others, fn {place, _text} -> place end)
    if problems == [], do: LintRules.warn(router)

    cond do
      RefusedRouter.compiled_here?(router) -> RefusedRouter.report(router, problems)
      problems == [] -> :ok
      true -> Refusal.refuse_all!(problems)
    end
  end

  # A resource can be read without its `complete`, so a missing one is only a warning.
  defp missing(places) do
    missing = for %{handlers: handlers} <- places, named <- handlers, text = Handler.missing(named), do: {named, text}
    for {%{optional?: true, place: {file, line}}, text} <- missing, do: IO.warn(text, file: file, line: line)
    for {%{optional?: false, place: place}, text} <- missing, do: {place, text}
  end

  defp unusable(places),
    do: for(%{plug: plug, place: place} <- places, {:error, text} <- [Plugs.resolve(plug)], do: {place, text})

  defp misfits(places) do
    for %{structs: structs} = declared <- places,
        object <- structs,
        text = Arguments.misfit(object),
        do: {Places.at(declared, object.pointer), "#{declared.what} #{text}"}
  end

  defp unservable(router, places) do
    case Catalog.build(router) do
      {:ok, _catalog} -> []
      {:error, message} -> [{place(places, message), message}]
    end
  end

  # The core's text begins with the refused entry: `tool "add": …`. The first place in the list is the router's.
  defp place(places, message) do
    declared = Enum.find(places, hd(places), &String.starts_with?(message, &1.what <> ":"))
    Places.at(declared, pointer(message))
  end

  # For an invalid schema the text contains a pointer.
  defp pointer(message) do
    case Regex.run(~r{: (\w+Schema): the schema is invalid: (/\S*):}, message, capture: :all_but_first) do
      [schema, pointer] -> "/#{schema}#{pointer}"
      nil -> ""
    end
  end

  @doc "Whether mix must recompile the router, because it was refused the last time."
  @spec refused?(module) :: boolean
  defdelegate refused?(router), to: RefusedRouter
end
