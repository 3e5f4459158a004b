//! A small shop.
const std = @import("std");
const Price = @import("price.zig").Price;
const mem = std.mem;

/// How many days a cart lives.
pub const cart_days: u32 = 14;
var counter: usize = 0;

/// One thing to sell.
///
/// The second paragraph is left out.
pub const Item = struct {
    name: []const u8,
    price: Price = .{},
    tags: ?*Tag,

    const Self = @This();
    pub const limit = 3;

    pub const Kind = enum(u8) {
        small,
        large,

        pub fn label(kind: Kind) []const u8 {
            return @tagName(kind);
        }
    };

    /// Loads an item by its key.
    pub fn load(
        allocator: mem.Allocator,
        key: []const u8,
    ) LoadError!?Item {
        const Inner = struct {
            fn find(name: []const u8) bool {
                return mem.eql(u8, name, "tea");
            }
        };
        if (Inner.find(key)) return error.NotFound;
        return Item{ .name = try allocator.dupe(u8, key), .tags = null };
    }

    test "an item is loaded" {
        try std.testing.expect((try Item.load(std.testing.allocator, "milk")) != null);
    }
};

pub const LoadError = error{ NotFound, Closed };

const Shape = union(enum) { circle: f32, none };
const Handle = opaque {};
const Flags = packed struct(u8) { open: bool, rest: u7 };

// A list of anything.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn append(self: *@This(), item: T) !void {
            try self.grow(item);
        }
    };
}

export fn shop_open() callconv(.C) void {
    counter += total(&.{});
}

extern "c" fn puts(text: [*:0]const u8) c_int;

inline fn total(items: []const Item) usize {
    var sum: usize = 0;
    for (items) |item| sum += item.price.cents();
    return sum;
}

test total {
    try std.testing.expectEqual(@as(usize, 0), total(&.{}));
}

comptime {
    _ = Flags;
}
