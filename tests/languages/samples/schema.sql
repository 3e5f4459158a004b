-- The tables of the shop.
SET search_path TO shop;

/* People who buy. */
CREATE TABLE IF NOT EXISTS shop.customers (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL DEFAULT 'x; y', -- trailing remark
    referrer BIGINT REFERENCES customers (id)
);

-- What they bought.
--
-- One row for each order.
CREATE TABLE orders (
    id BIGINT PRIMARY KEY,
    customer_id BIGINT NOT NULL REFERENCES shop.customers (id),
    total NUMERIC(10, 2)
);

CREATE UNIQUE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX orders_by_total ON orders (total);
CREATE SEQUENCE order_numbers START WITH 100;

CREATE TYPE order_state AS ENUM ('new', 'paid');
CREATE TYPE address AS (street TEXT, city TEXT);

CREATE OR REPLACE VIEW big_orders AS
SELECT o.id, c.name, upper(c.name) AS loud
FROM orders o
JOIN shop.customers c ON c.id = o.customer_id
WHERE o.total > 100;

CREATE MATERIALIZED VIEW order_counts AS
SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id;

-- Adds the tax.
CREATE OR REPLACE FUNCTION with_tax(amount NUMERIC, rate NUMERIC DEFAULT 0.2)
RETURNS NUMERIC AS $$
BEGIN
    RETURN round(amount * (1 + rate), 2);
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER touch_order BEFORE UPDATE ON orders
FOR EACH ROW EXECUTE FUNCTION touch();

ALTER TABLE orders ADD COLUMN state order_state;

INSERT INTO orders (id, customer_id, total) VALUES (1, 1, 10.0);

UPDATE orders SET total = with_tax(total) WHERE id = 1;

CREATE PROCEDURE archive_orders(before DATE)
LANGUAGE SQL
AS $$
    INSERT INTO old_orders SELECT * FROM orders;
$$;

DELETE FROM orders;
