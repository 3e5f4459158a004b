package orders;

import orders.cart.Cart;
import orders.cart.DiscountPolicy;
import orders.payment.PaymentDeclined;
import orders.payment.PaymentGateway;
import orders.shipping.ShippingCost;

/** Turns a cart into an order: discount, tax, shipping, payment. */
public class Checkout {
    private static final int TAX_PERCENT = 20;
    private final PaymentGateway gateway;
    private final DiscountPolicy discounts;

    public Checkout(PaymentGateway gateway, DiscountPolicy discounts) {
        this.gateway = gateway;
        this.discounts = discounts;
    }

    public long total(Cart cart) {
        long net = cart.subtotal() - discounts.discount(cart);
        return net + net * TAX_PERCENT / 100 + ShippingCost.of(cart);
    }

    public Order place(String customer, Cart cart) throws PaymentDeclined {
        if (cart.items().isEmpty()) {
            throw new IllegalStateException("the cart is empty");
        }
        return new Order(gateway.charge(customer, total(cart)), cart.items());
    }
}
