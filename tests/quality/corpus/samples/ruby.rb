#!/usr/bin/env ruby
# frozen_string_literal: true

require "json"
require_relative 'shop/price'
autoload :Printer, "shop/printer"

# Everything a small shop needs.
#
# The second paragraph is not part of the summary.
module Shop
  # How many days a cart lives.
  CART_DAYS = 14
  Point = Struct.new(:x, :y) do
    def distance
      Math.sqrt((x * x) + (y * y))
    end
  end

  class Error < StandardError; end
  Missing = Class.new(Error)

  class Item < Base::Model
    include Comparable
    extend Forwardable, Shop::Helpers

    attr_reader :name

    # Builds an item from a hash.
    def self.build(attributes, strict: false)
      raise Missing.new("name") if strict

      new(**attributes)
    end

    class << self
      def cheapest = all.min_by(&:price)
    end

    def initialize(name:, price: 0)
      @name = name
      @price = Price.parse(price)
    rescue Price::Invalid, ArgumentError
      @price = nil
    end

    def <=>(other)
      price <=> other.price
    end

    def name=(value)
      @name = value.strip
    end

    def sold?
      limit = 3
      Inventory.find(self).count > limit
    end

    private def label(
      prefix,
      suffix = nil
    )
      format("%s %s", prefix, suffix)
    end
  end
end

class Shop::Outlet::Deal; end

def Shop.open(*items)
  items.each { |item| puts item }
end

=begin
A block comment.
=end
def main
  Shop.open(Shop::Item.new(name: "tea"))
end

RSpec.describe Shop::Item do
  context "with a price" do
    it "knows whether it is sold" do
      expect(described_class.new(name: "tea")).to be_sold
    end
  end
end

main if __FILE__ == $PROGRAM_NAME
