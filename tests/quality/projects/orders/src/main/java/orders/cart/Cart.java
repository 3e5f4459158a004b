package orders.cart;

import java.util.LinkedHashMap;
import java.util.Map;

/** The items that a customer has chosen so far. */
public class Cart {
    private final Map<Product, Integer> quantities = new LinkedHashMap<>();

    public void add(Product product, int quantity) {
        if (quantity < 1) {
            throw new IllegalArgumentException("quantity must be at least 1, it is " + quantity);
        }
        quantities.merge(product, quantity, Integer::sum);
    }

    public void remove(Product product) {
        quantities.remove(product);
    }

    /** The sum of all prices before discounts and tax, in cents. */
    public long subtotal() {
        return quantities.entrySet().stream().mapToLong(entry -> entry.getKey().price() * entry.getValue()).sum();
    }

    public Map<Product, Integer> items() {
        return Map.copyOf(quantities);
    }
}
