// A cache of parsed pages.
#include <map>
#include "cache/page.hpp"

#define CACHE_LIMIT 128
#define CACHE_LOG(text) std::clog << (text)

namespace shop::cache {

using Key = std::string;
template <typename Value>
using Table = std::map<Key, Value>;

/// Where pages go.
enum class Tier : int { Memory, Disk };

namespace {
constexpr int kRetries = 3;
}  // namespace

/**
 * Keeps values by key.
 *
 * Not thread safe.
 */
template <typename Value, typename Clock = SteadyClock>
class [[nodiscard]] Cache final : public Store<Value>, private detail::Base {
 public:
  static constexpr int kMax = 3;

  explicit Cache(const Options& options) : Store<Value>(options), size_(0) { reserve(); }
  ~Cache() override;
  Cache& operator=(const Cache&) = delete;

  Value* find(const Key& key) const noexcept {
    auto hit = [&](int index) { return table_.at(index); };
    return Clock::now().template check<Value>(hit(0));
  }

  friend bool operator==(const Cache& left, const Cache& right) { return same(left, right); }

  struct Entry {
    Value value;
    Page page;
  };

 private:
  Table<Entry> table_;
  int size_;
};

template <typename Value, typename Clock>
Cache<Value, Clock>::~Cache() { clear(); }

template <>
struct Hash<Key> { int seed; };

template <typename T>
concept Sized = requires(T value) { value.size(); };

int Pool::count = 0;

}  // namespace shop::cache

class SHOP_API Pool : public Counted {
  void drain() { release(new Page(1)); }
};

std::ostream& operator<<(std::ostream& out, const shop::Page& page) {
  return out << Page{page};
}

Page Pool::Iterator::next() { return std::move(pool::detail::take(*this)); }

extern "C" {
int pool_open(const char* name) { return std::make_unique<Pool>(name)->open(); }
}

TEST(CacheTest, FindsWhatWasPut) {
  EXPECT_EQ(Cache<int>(Options{}).find("a"), nullptr);
}

TEST_CASE("pools drain", "[pool]")
{
  REQUIRE(drained());
}
