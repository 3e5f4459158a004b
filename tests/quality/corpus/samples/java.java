/* Orders and how they are paid. */
package shop.orders;

import java.util.*;
import static shop.money.Money.zero;
import shop.people.Customer;

/**
 * Takes orders.
 *
 * @since 2.0
 */
@Service
@Scope(value = "request")
public final class OrderDesk<T extends Order> extends Desk<T> implements Payable, Comparable<OrderDesk<T>>, shop.Audited {
  /** How often a payment is tried. */
  public static final int MAX_TRIES = 3;
  private static final Logger LOG = Logger.getLogger("orders");
  private final Map<String, Customer> customers = new HashMap<>();

  static {
    register(OrderDesk.class);
  }

  @Inject
  public OrderDesk(Clock clock) {
    super(clock);
  }

  // One order at a time.
  @Override
  @Transactional(timeout = 5)
  public <R extends Receipt> Optional<R> pay(
      final Order order,
      Card... cards) throws PaymentException {
    Runnable done = () -> LOG.info("done");
    cards.forEach(this::charge);
    return Receipts.of(new Receipt(order), (R) null);
  }

  @Test void first() { assertTrue(pay(null).isEmpty()); }
  @Test void second() { new Thread() { @Override public void run() { pay(null); } }.start(); }

  enum State implements Labelled {
    OPEN { String label() { return "open"; } },
    PAID;

    State() {}
  }

  record Line(Item item, int count) implements Priced {
    Line {
      check(count);
    }
  }

  interface Listener extends EventListener, Consumer<Order> {
    int LIMIT = 10;

    void changed(Order order);

    default boolean wants(State state) { return state instanceof State; }
  }

  @interface Audit { String reason() default ""; }
}

sealed interface Order permits Online, Counter {}
