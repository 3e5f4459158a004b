package orders.payment;

/** A service that takes money. */
public interface PaymentGateway {
    String charge(String customer, long cents) throws PaymentDeclined;

    void refund(String paymentId);
}
