package orders.payment;

/** The bank refuses to pay. */
public class PaymentDeclined extends Exception {
    public PaymentDeclined(String reason) {
        super(reason);
    }
}
