import Foundation
import struct Vapor.URL
@testable import Shop

/* How many days a cart lives. */
let cartDays = 14
public typealias Handler = (Item) -> Void

/// One thing to sell.
///
/// - Note: the second paragraph is left out.
@available(iOS 13, *)
@MainActor
public final class Item<Value: Codable>: Base.Model, Sellable where Value: Hashable {
    static let shared = Item(name: "tea")
    private static var counter: Int = 0
    let name: String
    var price: Price?

    /// How the item is shown.
    var label: String {
        return format(name)
    }

    init(name: String, tags: [Tag] = []) {
        self.name = name
        super.init()
    }

    required convenience init?(coder: Coder) { nil }

    deinit { close() }

    @discardableResult
    public static func load(
        _ key: String,
        from store: Store<Value>
    ) async throws -> Item? {
        func inner() -> Bool { true }
        let handler = { (value: Int) in value }
        return try await store.find(key).map { $0 as? Item }
    }

    subscript(index: Int) -> Tag {
        get { tags[index] }
    }

    static func == (left: Item, right: Item) -> Bool {
        left.name == right.name
    }

    enum Kind: String, CaseIterable {
        case small, large(Int)

        static let standard = Kind.small
    }

    struct Meta: Codable {}
}

protocol Sellable: AnyObject {
    associatedtype Buyer
    var price: Price? { get }
    func sell(to buyer: Buyer) -> Bool
}

extension Item.Kind: Comparable {
    // Smaller first.
    func isSmaller(than other: Self) -> Bool { order(self) < order(other) }
}

actor Store<Value> {
    func find(_ key: String) -> [Item] { .init() }
}

#if DEBUG
func dump(_ items: [Item]) { items.forEach { print($0) } }
#endif

prefix func ! (item: Item) -> Bool { false }

final class ItemTests: XCTestCase {
    func testLabel() throws { XCTAssertEqual(Item<Int>(name: "tea").label, "tea") }
}

@Test("loads") func loads() { #expect(cartDays == 14) }
