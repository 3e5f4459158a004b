"""What the names of Kotlin mean, also of Java beside it.

Of 80 names of okio, drawn at random among all that some definition of it bears and after the last change of a
rule, each was judged by reading the code (November 2026): 44 edges, 42 right; 6 uses without their edge
(precision .95, recall .88). Wrong are a property that shares its name with a function, and an extension that
differs from a member by its parameters only. Missed are values of lambdas, of operators, and a field that a
variable of its name replaces further below.
"""

from __future__ import annotations

from indexed import edges_of, imports_of

SHOP = {
    "app/src/main/kotlin/Basket.kt": """\
package shop

import java.io.File
import shop.people.Customer as Person
import shop.util.*
import shop.util.Prices.Companion.round
import shop.util.inked
import shop.util.toMoney

class Basket<T : Priced>(val owner: Person, private var log: Log, start: Money) : Holder(owner), Priced, Watched {
  private val items: MutableList<Item> = mutableListOf()
  private val first = Item("a", start)
  val full: Boolean
    get() = items.size > MOST
  private val watcher = object : Watcher() {
    override fun seen(item: Item) {
      leave()
      item.price()
      this@Basket.touch()
    }
  }

  init {
    log.note(start.inked())
  }

  override fun total(): Money {
    var sum = Money.zero()
    for (item in items) {
      sum = sum.plus(item.price())
    }
    return round(sum)
  }

  fun add(item: Item): Basket<T> {
    if (full) throw Full(this)
    items.add(item)
    log.note(item.name)
    touch()
    watcher.seen(item)
    return this
  }

  fun add(name: String): Basket<T> = add(Item(name, "1".toMoney()))

  fun copy() = empty(owner).add("x").add(name = "y")

  fun tell(one: T?, other: Any) {
    one?.total()
    owner.greet()
    first.price().plus(Money.of(1))
    (other as Basket<*>).total()
    val kept = copy()
    kept.let { again -> again.total() }
    val byState = State.OPEN.next()
    byState.next()
    val full = Money.zero()
    full.plus(full)
    File("x").sum()
    shop.util.Prices.round(full)
    super.touch()
    val entry: Entry = first()
    entry.open()
    Labels.draw(Labels.LINE)
  }

  class Full(basket: Basket<*>) : RuntimeException() {
    init {
      basket.total()
    }
  }

  enum class State {
    OPEN,
    PAID;

    fun next(): State = PAID
  }

  companion object {
    const val SIZE = 3

    fun empty(owner: Person): Basket<Item> = Basket(owner, Log(), Money.of(SIZE))
  }
}

object Labels {
  val LINE = "-"

  fun draw(text: String) {
    text.length
  }
}

typealias Purse = Money

fun Basket<*>.weigh(purse: Purse): Money {
  add("w")
  purse.plus(this.total())
  return helper(purse)
}

private fun helper(money: Money): Money = money
""",
    "app/src/main/kotlin/Holder.kt": """\
package shop

import shop.people.Customer

abstract class Holder(protected val holder: Customer) {
  protected fun touch() {
    first().open()
    holder.greet()
  }

  fun first(): Entry = Entry()

  class Entry {
    fun open() {}
  }
}

interface Watched

abstract class Watcher {
  abstract fun seen(item: Item)

  fun leave() {}
}
""",
    "app/src/main/kotlin/Item.kt": """\
package shop

interface Priced {
  fun total(): Money
}

data class Item(val name: String, private val cost: Money) : Priced {
  override fun total() = price()

  fun price(): Money = cost.plus(Money.zero())
}

class Money {
  fun plus(other: Money): Money = other

  companion object {
    fun zero() = of(0)

    fun of(cents: Int): Money = Money()
  }
}
""",
    "app/src/main/kotlin/util/Prices.kt": """\
package shop.util

import java.io.File
import shop.Money

const val MOST = 5

class Prices {
  companion object {
    fun round(sum: Money): Money = sum
  }
}

class Log {
  fun note(text: String) {}
}

fun Money.inked(): String = "ink"

fun String.toMoney(): Money = Money.of(1)

fun File.sum(): Int = 1
""",
    "app/src/main/java/Customer.java": """\
package shop.people;

public class Customer {
  public void greet() {}
}
""",
    "app/src/main/kotlin/Till.kt": """\
package till

import com.bank.Money
import shop.Basket
import shop.Holder.Entry
import shop.weigh

class Till(private val basket: Basket<*>) {
  fun pay(money: Money, entry: Entry) {
    money.plus(money)
    basket.weigh(null).plus(money)
    basket.missing()
    entry.open()
    Item("x")
    toMoney()
  }
}
""",
}

# Every name that is not here means nothing that these files define.
EDGES = """\
app/src/main/kotlin/Basket.kt:10 Holder → app/src/main/kotlin/Holder.kt Holder (package)
app/src/main/kotlin/Basket.kt:10 Log → app/src/main/kotlin/util/Prices.kt Log (import)
app/src/main/kotlin/Basket.kt:10 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:10 Person → app/src/main/java/Customer.java Customer (import)
app/src/main/kotlin/Basket.kt:10 Priced → app/src/main/kotlin/Item.kt Priced (package)
app/src/main/kotlin/Basket.kt:10 Watched → app/src/main/kotlin/Holder.kt Watched (package)
app/src/main/kotlin/Basket.kt:11 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:12 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:14 MOST → app/src/main/kotlin/util/Prices.kt MOST (import)
app/src/main/kotlin/Basket.kt:15 Watcher → app/src/main/kotlin/Holder.kt Watcher (package)
app/src/main/kotlin/Basket.kt:16 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:17 leave → app/src/main/kotlin/Holder.kt Watcher.leave (self)
app/src/main/kotlin/Basket.kt:18 price → app/src/main/kotlin/Item.kt Item.price (annotation)
app/src/main/kotlin/Basket.kt:19 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:19 touch → app/src/main/kotlin/Holder.kt Holder.touch (self)
app/src/main/kotlin/Basket.kt:24 inked → app/src/main/kotlin/util/Prices.kt Money.inked (annotation)
app/src/main/kotlin/Basket.kt:24 note → app/src/main/kotlin/util/Prices.kt Log.note (attribute)
app/src/main/kotlin/Basket.kt:27 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:28 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:28 zero → app/src/main/kotlin/Item.kt Money.zero (package)
app/src/main/kotlin/Basket.kt:30 plus → app/src/main/kotlin/Item.kt Money.plus (return)
app/src/main/kotlin/Basket.kt:30 price → app/src/main/kotlin/Item.kt Item.price (attribute)
app/src/main/kotlin/Basket.kt:32 round → app/src/main/kotlin/util/Prices.kt Prices.round (import)
app/src/main/kotlin/Basket.kt:35 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:35 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:36 Full → app/src/main/kotlin/Basket.kt Basket.Full (self)
app/src/main/kotlin/Basket.kt:38 note → app/src/main/kotlin/util/Prices.kt Log.note (attribute)
app/src/main/kotlin/Basket.kt:39 touch → app/src/main/kotlin/Holder.kt Holder.touch (self)
app/src/main/kotlin/Basket.kt:40 seen → app/src/main/kotlin/Holder.kt Watcher.seen (attribute)
app/src/main/kotlin/Basket.kt:44 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:44 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:44 add → app/src/main/kotlin/Basket.kt Basket.add (self)
app/src/main/kotlin/Basket.kt:44 toMoney → app/src/main/kotlin/util/Prices.kt String.toMoney (annotation)
app/src/main/kotlin/Basket.kt:46 add → app/src/main/kotlin/Basket.kt Basket.add (return)
app/src/main/kotlin/Basket.kt:46 empty → app/src/main/kotlin/Basket.kt Basket.empty (self)
app/src/main/kotlin/Basket.kt:49 total → app/src/main/kotlin/Item.kt Priced.total (annotation)
app/src/main/kotlin/Basket.kt:50 greet → app/src/main/java/Customer.java Customer.greet (attribute)
app/src/main/kotlin/Basket.kt:51 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:51 of → app/src/main/kotlin/Item.kt Money.of (package)
app/src/main/kotlin/Basket.kt:51 plus → app/src/main/kotlin/Item.kt Money.plus (return)
app/src/main/kotlin/Basket.kt:51 price → app/src/main/kotlin/Item.kt Item.price (attribute)
app/src/main/kotlin/Basket.kt:52 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:52 total → app/src/main/kotlin/Basket.kt Basket.total (annotation)
app/src/main/kotlin/Basket.kt:53 copy → app/src/main/kotlin/Basket.kt Basket.copy (self)
app/src/main/kotlin/Basket.kt:54 total → app/src/main/kotlin/Basket.kt Basket.total (return)
app/src/main/kotlin/Basket.kt:55 State → app/src/main/kotlin/Basket.kt Basket.State (self)
app/src/main/kotlin/Basket.kt:55 next → app/src/main/kotlin/Basket.kt Basket.State.next (attribute)
app/src/main/kotlin/Basket.kt:56 next → app/src/main/kotlin/Basket.kt Basket.State.next (return)
app/src/main/kotlin/Basket.kt:57 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:57 zero → app/src/main/kotlin/Item.kt Money.zero (package)
app/src/main/kotlin/Basket.kt:58 plus → app/src/main/kotlin/Item.kt Money.plus (return)
app/src/main/kotlin/Basket.kt:59 sum → app/src/main/kotlin/util/Prices.kt File.sum (annotation)
app/src/main/kotlin/Basket.kt:60 Prices → app/src/main/kotlin/util/Prices.kt Prices (import)
app/src/main/kotlin/Basket.kt:60 round → app/src/main/kotlin/util/Prices.kt Prices.round (import)
app/src/main/kotlin/Basket.kt:61 touch → app/src/main/kotlin/Holder.kt Holder.touch (self)
app/src/main/kotlin/Basket.kt:62 Entry → app/src/main/kotlin/Holder.kt Holder.Entry (self)
app/src/main/kotlin/Basket.kt:63 open → app/src/main/kotlin/Holder.kt Holder.Entry.open (annotation)
app/src/main/kotlin/Basket.kt:64 LINE → app/src/main/kotlin/Basket.kt Labels.LINE (scope)
app/src/main/kotlin/Basket.kt:64 Labels → app/src/main/kotlin/Basket.kt Labels (scope)
app/src/main/kotlin/Basket.kt:64 draw → app/src/main/kotlin/Basket.kt Labels.draw (scope)
app/src/main/kotlin/Basket.kt:67 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:69 total → app/src/main/kotlin/Basket.kt Basket.total (attribute)
app/src/main/kotlin/Basket.kt:77 State → app/src/main/kotlin/Basket.kt Basket.State (self)
app/src/main/kotlin/Basket.kt:83 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:83 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Basket.kt:83 Log → app/src/main/kotlin/util/Prices.kt Log (import)
app/src/main/kotlin/Basket.kt:83 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:83 Person → app/src/main/java/Customer.java Customer (import)
app/src/main/kotlin/Basket.kt:83 SIZE → app/src/main/kotlin/Basket.kt Basket.SIZE (self)
app/src/main/kotlin/Basket.kt:83 of → app/src/main/kotlin/Item.kt Money.of (package)
app/src/main/kotlin/Basket.kt:95 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:97 Basket → app/src/main/kotlin/Basket.kt Basket (scope)
app/src/main/kotlin/Basket.kt:97 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Basket.kt:97 Purse → app/src/main/kotlin/Basket.kt Purse (scope)
app/src/main/kotlin/Basket.kt:98 add → app/src/main/kotlin/Basket.kt Basket.add (self)
app/src/main/kotlin/Basket.kt:99 plus → app/src/main/kotlin/Item.kt Money.plus (annotation)
app/src/main/kotlin/Basket.kt:99 total → app/src/main/kotlin/Basket.kt Basket.total (annotation)
app/src/main/kotlin/Basket.kt:100 helper → app/src/main/kotlin/Basket.kt helper (scope)
app/src/main/kotlin/Basket.kt:103 Money → app/src/main/kotlin/Item.kt Money (package)
app/src/main/kotlin/Holder.kt:5 Customer → app/src/main/java/Customer.java Customer (import)
app/src/main/kotlin/Holder.kt:7 first → app/src/main/kotlin/Holder.kt Holder.first (self)
app/src/main/kotlin/Holder.kt:7 open → app/src/main/kotlin/Holder.kt Holder.Entry.open (return)
app/src/main/kotlin/Holder.kt:8 greet → app/src/main/java/Customer.java Customer.greet (attribute)
app/src/main/kotlin/Holder.kt:11 Entry → app/src/main/kotlin/Holder.kt Holder.Entry (self)
app/src/main/kotlin/Holder.kt:21 Item → app/src/main/kotlin/Item.kt Item (package)
app/src/main/kotlin/Item.kt:4 Money → app/src/main/kotlin/Item.kt Money (scope)
app/src/main/kotlin/Item.kt:7 Money → app/src/main/kotlin/Item.kt Money (scope)
app/src/main/kotlin/Item.kt:7 Priced → app/src/main/kotlin/Item.kt Priced (scope)
app/src/main/kotlin/Item.kt:8 price → app/src/main/kotlin/Item.kt Item.price (self)
app/src/main/kotlin/Item.kt:10 Money → app/src/main/kotlin/Item.kt Money (scope)
app/src/main/kotlin/Item.kt:10 plus → app/src/main/kotlin/Item.kt Money.plus (attribute)
app/src/main/kotlin/Item.kt:10 zero → app/src/main/kotlin/Item.kt Money.zero (scope)
app/src/main/kotlin/Item.kt:14 Money → app/src/main/kotlin/Item.kt Money (scope)
app/src/main/kotlin/Item.kt:17 of → app/src/main/kotlin/Item.kt Money.of (self)
app/src/main/kotlin/Item.kt:19 Money → app/src/main/kotlin/Item.kt Money (scope)
app/src/main/kotlin/Till.kt:8 Basket → app/src/main/kotlin/Basket.kt Basket (import)
app/src/main/kotlin/Till.kt:9 Entry → app/src/main/kotlin/Holder.kt Holder.Entry (import)
app/src/main/kotlin/Till.kt:11 plus → app/src/main/kotlin/Item.kt Money.plus (return)
app/src/main/kotlin/Till.kt:11 weigh → app/src/main/kotlin/Basket.kt Basket.weigh (attribute)
app/src/main/kotlin/Till.kt:13 open → app/src/main/kotlin/Holder.kt Holder.Entry.open (annotation)
app/src/main/kotlin/util/Prices.kt:10 Money → app/src/main/kotlin/Item.kt Money (import)
app/src/main/kotlin/util/Prices.kt:18 Money → app/src/main/kotlin/Item.kt Money (import)
app/src/main/kotlin/util/Prices.kt:20 Money → app/src/main/kotlin/Item.kt Money (import)
app/src/main/kotlin/util/Prices.kt:20 of → app/src/main/kotlin/Item.kt Money.of (import)
"""

IMPORTS = """\
app/src/main/kotlin/Basket.kt → app/src/main/java/Customer.java
app/src/main/kotlin/Basket.kt → app/src/main/kotlin/util/Prices.kt
app/src/main/kotlin/Holder.kt → app/src/main/java/Customer.java
app/src/main/kotlin/Till.kt → app/src/main/kotlin/Basket.kt
app/src/main/kotlin/Till.kt → app/src/main/kotlin/Holder.kt
app/src/main/kotlin/util/Prices.kt → app/src/main/kotlin/Item.kt
"""


def test_every_use_leads_to_its_definition() -> None:
    assert edges_of(SHOP) == set(EDGES.splitlines())


def test_an_import_leads_to_the_files_it_brings() -> None:
    assert imports_of(SHOP) == set(IMPORTS.splitlines())
