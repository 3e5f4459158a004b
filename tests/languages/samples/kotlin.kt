@file:JvmName("Carts")

package shop.carts

import kotlin.collections.*
import shop.items.Item
import shop.money.Money as Price

/** How many items fit. */
const val CART_LIMIT = 20
val emptyCart: Cart by lazy { Cart(emptyList()) }
typealias Items = Map<String, Item>

/**
 * Holds what a customer wants.
 *
 * Carts never change.
 */
@Serializable
data class Cart<T : Item>(
    val items: List<T>,
    private val owner: Customer? = null,
) : Container<T>(), Priced, Comparable<Cart<T>> by natural(items) {

    companion object {
        const val KIND = "cart"

        @JvmStatic
        fun of(vararg items: Item): Cart<Item> = Cart(items.toList())
    }

    val total: Price
        get() = items.sumOf { it.price }

    init {
        require(items.size <= CART_LIMIT)
    }

    constructor(item: T) : this(listOf(item)) {
        log("one item")
    }

    // Gives a new cart.
    @Throws(CartFull::class)
    suspend fun <R> add(
        item: T,
        then: (Cart<T>) -> R,
    ): R {
        fun check(count: Int) = Rules.check(count)
        val listener = object : Listener { override fun changed() {} }
        return then(copy(items = items + item))
    }

    inner class Cursor
}

data class CartLine(
    val item: Item,
    val count: Int,
)

interface Priced { fun price(): Price }

fun interface Rule : Predicate<Cart<Item>> {
    fun allows(cart: Cart<Item>): Boolean
}

enum class State(val label: String) : Labelled {
    OPEN("open"),
    PAID("paid");

    fun next(): State = entries[ordinal + 1]
}

sealed class Event {
    object Cleared : Event()
    data class Added(val item: Item) : Event()
}

object Registry : Store("carts") {
    private val carts = mutableMapOf<String, Cart<Item>>()
}

fun Cart<Item>?.orEmpty(): Cart<Item> = this ?: emptyCart

class CartTest {
    @Test
    fun `an empty cart is free`() {
        assertEquals(Price.ZERO, (emptyCart as Priced).price())
    }
}
