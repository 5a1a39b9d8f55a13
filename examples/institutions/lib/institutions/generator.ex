defmodule Institutions.Generator do
  @moduledoc """
  Seven thousand institutions that do not exist, the same ones each time: names, places and figures in the proportions
  of the real ones. `mix run --no-start generate.exs FILE` writes them, a JSON object a line.
  """

  @count 7_000
  @first_id 100_001

  # How many of a thousand are in a state, roughly; and so a thousand entries to pick from.
  @states ~w(AK=2 AL=13 AR=12 AZ=18 CA=103 CO=17 CT=12 DC=4 DE=3 FL=54 GA=25 HI=4 IA=13 ID=6 IL=40 IN=18 KS=12 KY=14
    LA=18 MA=24 MD=13 ME=6 MI=25 MN=17 MO=25 MS=9 MT=5 NC=28 ND=4 NE=7 NH=6 NJ=26 NM=7 NV=6 NY=66 OH=46 OK=19 OR=13
    PA=52 RI=4 SC=15 SD=4 TN=23 TX=65 UT=11 VA=24 VT=4 WA=16 WI=15 WV=11 WY=2)
          |> Enum.map(&String.split(&1, "="))
          |> Enum.flat_map(fn [state, weight] -> List.duplicate(state, String.to_integer(weight)) end)
          |> List.to_tuple()

  @places ~w(Ashford Bedford Briarwood Brookdale Cedarville Clearwater Crestview Eastlake Elmhurst Fairmont Glendale
    Greenfield Hartwell Highland Kingsport Lakeview Lexford Maplewood Meadowbrook Millbrook Northfield Oakridge Pinecrest
    Redwood Riverside Rockford Silverton Springdale Stonebridge Summit Thornton Westfield Willowbrook Windham Woodland)
          |> List.to_tuple()

  @people ~w(Adler Bishop Calloway Dawson Ellison Foster Garrison Hollis Irving Jefferson Kessler Lindqvist Monroe Nolan
    Okafor Peralta Quimby Ramirez Sinclair Tanaka Underhill Vasquez Whitman Yates)
          |> List.to_tuple()

  # A name's form, who runs such an institution, and how large it is at most.
  @forms {
    {"University of %", "public", 45_000},
    {"% State University", "public", 38_000},
    {"% Community College", "public", 16_000},
    {"% Technical College", "public", 9_000},
    {"% College", "private", 4_000},
    {"& College", "private", 3_500},
    {"& University", "private", 18_000},
    {"& Institute of Art and Design", "private", 2_500},
    {"% Career Institute", "private", 1_200}
  }

  @doc "All of them, in the order of their ids."
  @spec rows() :: [map()]
  def rows do
    # The algorithm is named, since Erlang's default may change.
    {rows, _state} = Enum.map_reduce(1..@count, :rand.seed_s(:exsss, 7_000), &row/2)
    rows
  end

  defp row(number, state) do
    {{form, control, largest}, state} = pick(@forms, state)
    {place, state} = pick(@places, state)
    {person, state} = pick(@people, state)
    {home, state} = pick(@states, state)
    {founded, state} = :rand.uniform_s(220, state)
    {share, state} = :rand.uniform_s(1_000, state)

    row = %{
      "id" => @first_id + number - 1,
      "name" => form |> String.replace("%", place) |> String.replace("&", person),
      "city" => place,
      "state" => home,
      "control" => control,
      "founded" => 1_800 + founded,
      # Most are small.
      "enrollment" => 40 + div(largest * share * share, 1_000_000)
    }

    {row, state}
  end

  defp pick(choices, state) do
    {position, state} = :rand.uniform_s(tuple_size(choices), state)
    {elem(choices, position - 1), state}
  end
end
