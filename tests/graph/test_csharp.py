"""What the names of C# mean.

Of 70 names of Polly, drawn at random among all that some definition of it bears and after the last change of a
rule, each was judged by reading the code (November 2026): 49 edges, all with the right qualified name; 5 uses
without their edge (precision 1.00, recall .91). `Policy` and `Policy<T>` share one qualified name: of such types
up to 3 of the 49 edges name the file of the other one. Missed are functions that extend both of them, and
builders whose functions return the type parameter of their receiver.
"""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "src/Shop/Shop.csproj": '<Project>\n  <ItemGroup>\n    <Using Include="Shop.Logging" />\n  </ItemGroup>\n</Project>\n',
    "src/Shop/Usings.cs": "global using Shop.Tax;\n",
    "src/Shop/Basket.cs": """\
using System.Collections.Generic;
using System.Threading.Tasks;
using Shop.People;
using static Shop.Tools.Prices;
using Purse = Shop.Money;

namespace Shop;

[Audited(1)]
public partial class Basket<T> : Holder<T>, IPriced where T : IPriced
{
    public const int Size = 10;
    private static readonly Basket<T> Empty = new(null);
    private readonly List<Item> _items = new();
    private readonly Log _log;

    public Customer Owner { get; }
    public Money Money { get; set; } = Money.Zero();
    public Money Sum => Money.Plus(Total());

    public Basket(Customer owner) : base(owner)
    {
        Owner = owner;
        _log = Log.Open();
        this._log.Note("new");
    }

    public Money Total()
    {
        Money sum = Money.Zero();
        foreach (var item in _items)
        {
            sum = sum.Plus(item.Price());
        }
        return Round(sum);
    }

    public Basket<T> Add(Item item)
    {
        _log.Note(item.Name);
        Touch();
        Check(item);
        base.Touch();
        return this;
    }

    public Basket<T> Add(string name) => Add(new Item(name, Purse.Of(1)) { Name = name });

    public static Basket<T> Copy(T one)
    {
        one.Total();
        var made = new Basket<T>(null);
        made.Add("x").Add(name: "y");
        made.Owner?.Greet();
        made.Owner!.Greet();
        if (made is Basket<T> other && other.Total() is Money total)
        {
            total.Plus(null);
        }
        ((Basket<T>)made).Add("z");
        (made as Basket<T>).Add("z");
        int Twice(Item item) => item.Price().Cents();
        Twice(null);
        return Empty;
    }

    public async Task<Money> Later(State state)
    {
        var money = await Load();
        money.Plus(Sum);
        state.ToString();
        using var log = Log.Open();
        log.Note(nameof(Add));
        global::Shop.Tools.Prices.Round(money);
        Tools.Prices.Round(money);
        Entry entry = First();
        entry.Open();
        money.Doubled().Plus(null);
        Vat.Rate();
        missing.Total();
        return money;
    }

    private Task<Money> Load() => null;

    public enum State { Open, Paid }

    public class Full : System.Exception
    {
        public Full(Basket<Item> basket) => basket.Total();
    }
}
""",
    "src/Shop/Basket.Checks.cs": """\
namespace Shop;

public partial class Basket<T>
{
    private void Check(Item item)
    {
        if (_items.Count > Size) throw new Full(null);
        item.Total();
        Touch();
    }
}
""",
    "src/Shop/Holder.cs": """\
namespace Shop
{
    using Shop.People;

    public abstract class Holder<T>
    {
        protected Holder(Customer holder)
        {
            holder.Greet();
        }

        protected void Touch() => First().Open();

        protected Entry First() => new Entry();

        public class Entry
        {
            public void Open() { }
        }
    }

    public interface IPriced
    {
        Money Total();
    }
}
""",
    "src/Shop/Item.cs": """\
namespace Shop;

public record Item(string Name, Money Cost) : IPriced
{
    public Money Price() => Cost.Plus(Money.Zero());

    public Money Total() => Price();
}

public struct Money
{
    public static Money Zero() => Of(0);

    public static Money Of(int cents) => new Money();

    public Money Plus(Money other) => other;

    public int Cents() => 1;
}

public class AuditedAttribute : System.Attribute { }
""",
    "src/Shop/Tools/Prices.cs": """\
namespace Shop.Tools;

public static class Prices
{
    public static Money Round(Money sum) => sum;

    public static Money Doubled(this Money money) => money.Plus(money);
}
""",
    "src/Shop/Extensions.cs": """\
namespace Shop;

public static class MoneyExtensions
{
    public static Money Halved<TMoney>(this TMoney money) where TMoney : Money => money.Plus(money);
}
""",
    "src/Shop/People/Customer.cs": "namespace Shop.People;\n\npublic class Customer\n{\n    public void Greet() { }\n}\n",
    "src/Shop/Logging/Log.cs": """\
namespace Shop.Logging;

public class Log
{
    public static Log Open() => new Log();

    public void Note(string text) { }
}
""",
    "src/Shop/Tax/Vat.cs": "namespace Shop.Tax;\n\npublic static class Vat\n{\n    public static int Rate() => 1;\n}\n",
    # Another project: neither its own using of the first project nor that of its folder holds there.
    "src/Bank/Till.cs": """\
using Shop;

namespace Bank;

public class Till(Money start)
{
    public void Pay(Money money, Log log)
    {
        money.Plus(start.Halved());
        money.Doubled();
        log.Note("x");
        Round(money);
        Vat.Rate();
    }
}
""",
    "src/Bank/Money.cs": "namespace Bank.Coins;\n\npublic class Money\n{\n    public void Plus() { }\n}\n",
}

# Every name that is not here means nothing that these files define.
EDGES = """\
src/Bank/Till.cs:5 Money → src/Shop/Item.cs Shop.Money (import)
src/Bank/Till.cs:7 Money → src/Shop/Item.cs Shop.Money (import)
src/Bank/Till.cs:9 Halved → src/Shop/Extensions.cs Shop.MoneyExtensions.Halved (annotation)
src/Bank/Till.cs:9 Plus → src/Shop/Item.cs Shop.Money.Plus (annotation)
src/Shop/Basket.Checks.cs:5 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.Checks.cs:7 Full → src/Shop/Basket.cs Shop.Basket.Full (self)
src/Shop/Basket.Checks.cs:7 Size → src/Shop/Basket.cs Shop.Basket.Size (self)
src/Shop/Basket.Checks.cs:8 Total → src/Shop/Item.cs Shop.Item.Total (annotation)
src/Shop/Basket.Checks.cs:9 Touch → src/Shop/Holder.cs Shop.Holder.Touch (self)
src/Shop/Basket.cs:10 Holder → src/Shop/Holder.cs Shop.Holder (package)
src/Shop/Basket.cs:10 IPriced → src/Shop/Holder.cs Shop.IPriced (package)
src/Shop/Basket.cs:13 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:14 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.cs:15 Log → src/Shop/Logging/Log.cs Shop.Logging.Log (import)
src/Shop/Basket.cs:17 Customer → src/Shop/People/Customer.cs Shop.People.Customer (import)
src/Shop/Basket.cs:18 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:18 Zero → src/Shop/Item.cs Shop.Money.Zero (attribute)
src/Shop/Basket.cs:19 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:19 Plus → src/Shop/Item.cs Shop.Money.Plus (attribute)
src/Shop/Basket.cs:19 Total → src/Shop/Basket.cs Shop.Basket.Total (self)
src/Shop/Basket.cs:21 Customer → src/Shop/People/Customer.cs Shop.People.Customer (import)
src/Shop/Basket.cs:24 Log → src/Shop/Logging/Log.cs Shop.Logging.Log (import)
src/Shop/Basket.cs:24 Open → src/Shop/Logging/Log.cs Shop.Logging.Log.Open (import)
src/Shop/Basket.cs:25 Note → src/Shop/Logging/Log.cs Shop.Logging.Log.Note (attribute)
src/Shop/Basket.cs:28 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:30 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:30 Zero → src/Shop/Item.cs Shop.Money.Zero (attribute)
src/Shop/Basket.cs:33 Plus → src/Shop/Item.cs Shop.Money.Plus (annotation)
src/Shop/Basket.cs:33 Price → src/Shop/Item.cs Shop.Item.Price (attribute)
src/Shop/Basket.cs:35 Round → src/Shop/Tools/Prices.cs Shop.Tools.Prices.Round (import)
src/Shop/Basket.cs:38 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:38 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.cs:40 Note → src/Shop/Logging/Log.cs Shop.Logging.Log.Note (attribute)
src/Shop/Basket.cs:41 Touch → src/Shop/Holder.cs Shop.Holder.Touch (self)
src/Shop/Basket.cs:42 Check → src/Shop/Basket.Checks.cs Shop.Basket.Check (self)
src/Shop/Basket.cs:43 Touch → src/Shop/Holder.cs Shop.Holder.Touch (self)
src/Shop/Basket.cs:47 Add → src/Shop/Basket.cs Shop.Basket.Add (self)
src/Shop/Basket.cs:47 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:47 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.cs:47 Of → src/Shop/Item.cs Shop.Money.Of (import)
src/Shop/Basket.cs:47 Purse → src/Shop/Item.cs Shop.Money (import)
src/Shop/Basket.cs:49 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:51 Total → src/Shop/Holder.cs Shop.IPriced.Total (annotation)
src/Shop/Basket.cs:52 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:53 Add → src/Shop/Basket.cs Shop.Basket.Add (constructor)
src/Shop/Basket.cs:53 Add → src/Shop/Basket.cs Shop.Basket.Add (return)
src/Shop/Basket.cs:54 Greet → src/Shop/People/Customer.cs Shop.People.Customer.Greet (attribute)
src/Shop/Basket.cs:55 Greet → src/Shop/People/Customer.cs Shop.People.Customer.Greet (attribute)
src/Shop/Basket.cs:56 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:56 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:56 Total → src/Shop/Basket.cs Shop.Basket.Total (annotation)
src/Shop/Basket.cs:58 Plus → src/Shop/Item.cs Shop.Money.Plus (annotation)
src/Shop/Basket.cs:60 Add → src/Shop/Basket.cs Shop.Basket.Add (annotation)
src/Shop/Basket.cs:60 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:61 Add → src/Shop/Basket.cs Shop.Basket.Add (annotation)
src/Shop/Basket.cs:61 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:62 Cents → src/Shop/Item.cs Shop.Money.Cents (return)
src/Shop/Basket.cs:62 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.cs:62 Price → src/Shop/Item.cs Shop.Item.Price (annotation)
src/Shop/Basket.cs:63 Twice → src/Shop/Basket.cs Shop.Basket.Copy.Twice (scope)
src/Shop/Basket.cs:64 Empty → src/Shop/Basket.cs Shop.Basket.Empty (self)
src/Shop/Basket.cs:67 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:67 State → src/Shop/Basket.cs Shop.Basket.State (self)
src/Shop/Basket.cs:69 Load → src/Shop/Basket.cs Shop.Basket.Load (self)
src/Shop/Basket.cs:70 Plus → src/Shop/Item.cs Shop.Money.Plus (return)
src/Shop/Basket.cs:70 Sum → src/Shop/Basket.cs Shop.Basket.Sum (self)
src/Shop/Basket.cs:72 Log → src/Shop/Logging/Log.cs Shop.Logging.Log (import)
src/Shop/Basket.cs:72 Open → src/Shop/Logging/Log.cs Shop.Logging.Log.Open (import)
src/Shop/Basket.cs:73 Add → src/Shop/Basket.cs Shop.Basket.Add (self)
src/Shop/Basket.cs:73 Note → src/Shop/Logging/Log.cs Shop.Logging.Log.Note (return)
src/Shop/Basket.cs:74 Prices → src/Shop/Tools/Prices.cs Shop.Tools.Prices (import)
src/Shop/Basket.cs:74 Round → src/Shop/Tools/Prices.cs Shop.Tools.Prices.Round (import)
src/Shop/Basket.cs:75 Prices → src/Shop/Tools/Prices.cs Shop.Tools.Prices (import)
src/Shop/Basket.cs:75 Round → src/Shop/Tools/Prices.cs Shop.Tools.Prices.Round (import)
src/Shop/Basket.cs:76 Entry → src/Shop/Holder.cs Shop.Holder.Entry (self)
src/Shop/Basket.cs:76 First → src/Shop/Holder.cs Shop.Holder.First (self)
src/Shop/Basket.cs:77 Open → src/Shop/Holder.cs Shop.Holder.Entry.Open (annotation)
src/Shop/Basket.cs:79 Rate → src/Shop/Tax/Vat.cs Shop.Tax.Vat.Rate (import)
src/Shop/Basket.cs:79 Vat → src/Shop/Tax/Vat.cs Shop.Tax.Vat (import)
src/Shop/Basket.cs:84 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Basket.cs:90 Basket → src/Shop/Basket.cs Shop.Basket (package)
src/Shop/Basket.cs:90 Item → src/Shop/Item.cs Shop.Item (package)
src/Shop/Basket.cs:90 Total → src/Shop/Basket.cs Shop.Basket.Total (annotation)
src/Shop/Extensions.cs:5 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Extensions.cs:5 Plus → src/Shop/Item.cs Shop.Money.Plus (annotation)
src/Shop/Holder.cs:7 Customer → src/Shop/People/Customer.cs Shop.People.Customer (import)
src/Shop/Holder.cs:9 Greet → src/Shop/People/Customer.cs Shop.People.Customer.Greet (annotation)
src/Shop/Holder.cs:12 First → src/Shop/Holder.cs Shop.Holder.First (self)
src/Shop/Holder.cs:12 Open → src/Shop/Holder.cs Shop.Holder.Entry.Open (return)
src/Shop/Holder.cs:14 Entry → src/Shop/Holder.cs Shop.Holder.Entry (self)
src/Shop/Holder.cs:24 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:3 IPriced → src/Shop/Holder.cs Shop.IPriced (package)
src/Shop/Item.cs:3 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:5 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:5 Plus → src/Shop/Item.cs Shop.Money.Plus (attribute)
src/Shop/Item.cs:5 Zero → src/Shop/Item.cs Shop.Money.Zero (package)
src/Shop/Item.cs:7 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:7 Price → src/Shop/Item.cs Shop.Item.Price (self)
src/Shop/Item.cs:12 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:12 Of → src/Shop/Item.cs Shop.Money.Of (self)
src/Shop/Item.cs:14 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Item.cs:16 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Logging/Log.cs:5 Log → src/Shop/Logging/Log.cs Shop.Logging.Log (package)
src/Shop/Tools/Prices.cs:5 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Tools/Prices.cs:7 Money → src/Shop/Item.cs Shop.Money (package)
src/Shop/Tools/Prices.cs:7 Plus → src/Shop/Item.cs Shop.Money.Plus (annotation)
"""

IMPORTS = """\
src/Bank/Till.cs → src/Shop/Extensions.cs
src/Bank/Till.cs → src/Shop/Item.cs
src/Shop/Basket.cs → src/Shop/Item.cs
src/Shop/Basket.cs → src/Shop/People/Customer.cs
src/Shop/Basket.cs → src/Shop/Tools/Prices.cs
src/Shop/Holder.cs → src/Shop/People/Customer.cs
"""


def test_every_use_leads_to_its_definition() -> None:
    assert edges_of(SHOP) == set(EDGES.splitlines())


def test_an_import_leads_to_the_files_it_brings() -> None:
    assert imports_of(SHOP) == set(IMPORTS.splitlines())
