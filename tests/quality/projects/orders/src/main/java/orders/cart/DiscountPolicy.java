package orders.cart;

/** How much less a cart costs. */
@FunctionalInterface
public interface DiscountPolicy {
    long discount(Cart cart);

    /** A share of the subtotal once it reaches a threshold. */
    static DiscountPolicy volume(long threshold, int percent) {
        return cart -> cart.subtotal() >= threshold ? cart.subtotal() * percent / 100 : 0;
    }

    static DiscountPolicy none() {
        return cart -> 0;
    }
}
