#!/usr/bin/env lua
local json = require("json")
local Price = require "shop.price"
local insert = table.insert

-- How many days a cart lives.
local CART_DAYS = 14
LIMIT = 3

--- One thing to sell.
-- Still the same paragraph.
local Item = setmetatable({}, { __index = Base })
Item.__index = Item
Item.tags = { "a", "b" }

--- Builds an item.
--
-- The second paragraph is left out.
function Item.new(name, ...)
  local self = setmetatable({}, Item)
  local double = function(value) return value * 2 end
  local function inner(depth)
    return double(depth)
  end
  self.price = Price.parse(inner(1))
  return self
end

function Item:label(
  prefix,
  suffix
)
  return self.format:render(prefix, suffix)
end

function Item.meta.store:close() end

local function helper(value) return json.encode(value) end

Item.compare = function(left, right)
  return left.price < right.price
end

local total = function(items)
  for _, item in ipairs(items) do insert(sums, item) end
end

local handlers = {
  -- Called once.
  open = function(event) print(event) end,
  limit = 2,
}

local a, b = 1, 2

describe("Item", function()
  it("has a label", function()
    assert.equal("tea", Item.new("tea"):label())
  end)
end)

return Item
