from shop.basket import Basket


def test_the_total_counts_tax():
    basket = Basket()
    basket.add("tea", 2)
    assert basket.total() == 1080
