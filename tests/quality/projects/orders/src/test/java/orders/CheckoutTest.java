package orders;

import static org.junit.jupiter.api.Assertions.assertThrows;

import orders.cart.Cart;
import orders.cart.DiscountPolicy;
import org.junit.jupiter.api.Test;

class CheckoutTest {
    @Test
    void anEmptyCartIsRefused() {
        Checkout checkout = new Checkout(null, DiscountPolicy.none());
        assertThrows(IllegalStateException.class, () -> checkout.place("ada", new Cart()));
    }
}
