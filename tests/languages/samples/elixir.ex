# The shop.
defmodule Acme.Shop.Item do
  @moduledoc """
  One thing to sell.

  The second paragraph is left out.
  """

  use GenServer, restart: :temporary
  alias Acme.{Price, Store}
  alias Acme.Tag, as: T
  import Ecto.Query, only: [from: 2]
  require Logger
  @behaviour Acme.Sellable

  # How many days a cart lives.
  @cart_days 14
  @enforce_keys [:name]
  defstruct [:name, price: 0]

  @typedoc "An item."
  @type t :: %__MODULE__{name: String.t(), price: integer}
  @type result(value) :: {:ok, value} | :error

  @callback label(t) :: String.t()

  @doc """
  Loads an item by its key.

      iex> load("tea")
  """
  @spec load(String.t(), keyword) :: t | nil
  def load(key, options \\ [])

  def load(nil, _options), do: nil

  # The usual way.
  def load(key, options) when is_binary(key) do
    price = &round_up/1
    key |> Store.find(options) |> build(price)
    %Price{cents: @cart_days}
  end

  defp build(row, fun), do: Enum.map(row, fn value -> fun.(value) end)

  @impl true
  def init(state) do
    Logger.info("started")
    {:ok, state}
  end

  def left <~> right, do: merge(left, right)

  def ready? do
    true
  end

  @deprecated "use load/2"
  defmacro sell(item, do: block) do
    quote do
      unquote(block)
    end
  end

  defguard is_item(value) when is_struct(value)
  defdelegate size(items), to: Map

  defmodule Error do
    defexception [:message]
  end
end

defprotocol Acme.Named do
  @doc "The name of anything."
  def name(thing)
end

defimpl Acme.Named, for: Acme.Shop.Item do
  def name(item), do: item.name
end

defmodule Acme.Shop.ItemTest do
  use ExUnit.Case, async: true

  describe "load/2" do
    @tag :slow
    test "finds nothing for nil", %{store: store} do
      assert Item.load(nil, store: store) == nil
    end
  end
end
