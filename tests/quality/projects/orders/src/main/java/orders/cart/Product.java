package orders.cart;

/** Something for sale; the price is in cents, the weight in grams. */
public record Product(String sku, String name, long price, int weight) {
    public Product {
        if (price < 0) {
            throw new IllegalArgumentException("a price is not negative");
        }
    }
}
