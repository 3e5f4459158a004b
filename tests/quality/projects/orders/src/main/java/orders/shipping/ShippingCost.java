package orders.shipping;

import orders.cart.Cart;

/** What sending a cart costs, by weight. */
public final class ShippingCost {
    private static final long FREE_FROM = 10_000;
    private static final long PER_KILOGRAM = 250;

    private ShippingCost() {}

    public static long of(Cart cart) {
        if (cart.subtotal() >= FREE_FROM) {
            return 0;
        }
        int grams = cart.items().entrySet().stream()
            .mapToInt(entry -> entry.getKey().weight() * entry.getValue())
            .sum();
        return (grams + 999) / 1000 * PER_KILOGRAM;
    }
}
