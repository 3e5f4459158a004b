namespace py shop.v1
namespace java com.example.shop

include "money.thrift"
include 'base.thrift'

# How long a cart lives.
const i32 CART_DAYS = 14
typedef string OrderId

/** How far an order has come. */
enum OrderState {
  NEW = 0,
  PAID = 1,
}

// One row of an order.
struct OrderLine {
  1: required string sku,
  2: optional i32 count = 1, // "not { code"
}

struct Order {
  1: OrderId id
  2: OrderState state = OrderState.NEW
  3: list<OrderLine> lines
  4: map<string, money.Money> totals
} (cpp.type = "shop::Order")

union Contact {
  1: string email
  2: string phone
}

exception OrderNotFound {
  1: OrderId id
}

/**
 * Takes orders.
 */
service OrderService extends base.BaseService {
  Order getOrder(1: OrderId id) throws (1: OrderNotFound missing),
  oneway void touch(1: OrderId id)
}
