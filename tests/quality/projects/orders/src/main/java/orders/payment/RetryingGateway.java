package orders.payment;

import java.util.concurrent.TimeUnit;

/** Tries again when the network fails; a declined payment is final. */
public class RetryingGateway implements PaymentGateway {
    private static final int ATTEMPTS = 3;
    private final PaymentGateway inner;

    public RetryingGateway(PaymentGateway inner) {
        this.inner = inner;
    }

    @Override
    public String charge(String customer, long cents) throws PaymentDeclined {
        RuntimeException last = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                return inner.charge(customer, cents);
            } catch (RuntimeException error) {
                last = error;
                pause(attempt);
            }
        }
        throw last;
    }

    @Override
    public void refund(String paymentId) {
        inner.refund(paymentId);
    }

    /** Wait twice as long after each attempt. */
    private static void pause(int attempt) {
        try {
            TimeUnit.MILLISECONDS.sleep(100L << attempt);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
