defmodule McpServer.SubscriptionTest do
  use ExUnit.Case, async: true

  alias McpServer.{JSON, Subscription}

  @changes [:tools, :prompts, :resources, {:resource, "a:1"}]

  defp wanted(subscription), do: Enum.filter(@changes, &Subscription.wants?(subscription, &1))
  defp json(message), do: message |> IO.iodata_to_binary() |> JSON.decode!()

  test "a filter names lists and resources" do
    assert wanted(Subscription.from_filter(%{})) == []
    assert wanted(Subscription.from_filter(%{"toolsListChanged" => true})) == [:tools]
    assert wanted(Subscription.from_filter(%{"promptsListChanged" => true})) == [:prompts]
    assert wanted(Subscription.from_filter(%{"resourcesListChanged" => true})) == [:resources]
    assert wanted(Subscription.from_filter(%{"resourceSubscriptions" => ["a:1"]})) == [{:resource, "a:1"}]
    assert wanted(Subscription.from_filter(%{"resourceSubscriptions" => ["a:2"]})) == []
  end

  test "a session hears of all lists, and of the resources that were put and not deleted" do
    session = Subscription.put_lists(%Subscription{})
    assert wanted(session) == [:tools, :prompts, :resources]
    session = Subscription.put_uri(session, "a:1")
    assert wanted(session) == @changes
    assert wanted(Subscription.delete_uri(session, "a:1")) == [:tools, :prompts, :resources]
  end

  test "any form of a URI names the resource, and the first one is told" do
    session = %Subscription{} |> Subscription.put_uri("a:%7e") |> Subscription.put_uri("a:~")
    assert Subscription.resources(session) == [{:resource, "a:~"}]
    assert Subscription.to?(session, "a:%7E")
    refute Subscription.to?(session, "a:%7F")
    message = json(Subscription.notification(session, {:resource, "a:~"}, "2025-11-25", nil))
    assert message["params"] == %{"uri" => "a:%7e"}
    assert Subscription.only(session, "a:~") == Subscription.to("a:%7e")
    assert Subscription.delete_uri(session, "a:~") == %Subscription{}
  end

  test "a resource costs its URI and 512 bytes, a list nothing" do
    assert Subscription.cost(Subscription.put_lists(%Subscription{})) == 0
    assert Subscription.cost(Subscription.to("a:1")) == 3 + 512
    # Its normal form, too, if that is another text.
    assert Subscription.cost(Subscription.to("a:%7e")) == 5 + 3 + 512
    filter = %{"toolsListChanged" => true, "resourceSubscriptions" => ["a:1", "a:22", "a:1"]}
    assert Subscription.cost(Subscription.from_filter(filter)) == 1_031
  end

  test "a change is told under the id of the stream, and in a session without one" do
    session = Subscription.to("a:1")

    assert json(Subscription.notification(session, {:resource, "a:1"}, "2025-11-25", nil)) == %{
             "jsonrpc" => "2.0",
             "method" => "notifications/resources/updated",
             "params" => %{"uri" => "a:1"}
           }

    assert json(Subscription.notification(session, :tools, "2026-07-28", "s"))["params"] == %{
             "_meta" => %{"io.modelcontextprotocol/subscriptionId" => "s"}
           }
  end
end
