package orders;

import java.util.Map;
import orders.cart.Product;

/** A paid order. */
public record Order(String paymentId, Map<Product, Integer> items) {}
