package com.acme.shop

import scala.collection.mutable
import cats.{Eq, Show => Display}
import java.util.UUID, java.io.File
import cats.syntax.all._

/** Helpers that every shop file sees. */
package object util {
  val Version = "1.0"
}

/** One thing to sell.
  *
  * The second paragraph is left out.
  */
@deprecated("use Product", "2.0")
sealed abstract class Item[+T <: Base](val name: String, price: Price = Price.zero)(implicit clock: Clock)
    extends Model[T](name)
    with base.Sellable {

  type Tags = Map[String, Int]
  private val cache = mutable.Map.empty[String, Item[T]]

  def this(name: String) = this(name, Price.zero)

  // How the item is shown.
  def label: String = format(name)

  @tailrec
  final def search[A](
      key: A,
      tries: Int
  )(implicit order: Ordering[A]): Option[Item[T]] = {
    def inner(depth: Int) = depth + 1
    val twice = (value: Int) => value * 2
    if (tries > inner(twice(1))) None else new Finder[A](key).run[T](order)
  }

  def abstractly(count: Int): Unit
}

case class Point(x: Int, y: Int)

object Item extends Factory {
  val Limit = 3
  implicit val order: Ordering[Item] = Ordering.by(_.name)

  def apply(name: String): Item = new Simple(name)
}

trait Sellable[T] extends Priced with Named {
  self: Item[T] =>
  def sell(amount: Int): Boolean
}

implicit class RichName(val name: String) extends AnyVal {
  def shout: String = name.toUpperCase
}

enum Color(val rgb: Int) derives Eq:
  case Red extends Color(0xff0000)
  case Green, Blue

  def hex: String =
    rgb.toHexString

// Orders items by name.
given byName: Ordering[Item] with
  def compare(left: Item, right: Item): Int = left.name compare right.name

given Display[Item] with
  def show(item: Item) = item.label

extension (item: Item)
  def sold: Boolean = true

opaque type Id = UUID

def total(items: List[Item]): Int =
  items.map(_.price).sum

  // still inside
  end total

// Runs at the top level.
val cartDays = 14

class ItemSpec extends AnyFunSuite {
  test("label") { assert(Item("tea").label == "tea") }
}
