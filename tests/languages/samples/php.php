<?php

declare(strict_types=1);

namespace App\Shop;

use App\Base\Model;
use App\Support\{Clock, Money as Cash};
use function App\helpers\format_label;

require_once __DIR__ . '/bootstrap.php';
include 'legacy.inc';

// How many days a cart lives.
const CART_DAYS = 14;
define('SHOP_DEBUG', false);

/**
 * One thing to sell.
 *
 * @property int $stock
 */
#[Entity(table: 'items')]
final class Item extends Model implements \Countable, Support\Sellable
{
    use Loggable;

    /** The cheapest price. */
    public const MIN = 1, MAX = 99;

    private ?Cash $price = null;

    public function __construct(
        private readonly string $name,
        Clock|null $clock = null,
    ) {
        parent::__construct($name);
        $this->price = new Cash(0);
    }

    /**
     * Loads an item by its key.
     */
    #[Pure]
    public static function load(string $key): static
    {
        $found = array_map(fn ($row) => new static($row), Store::rows($key));
        return $found[0] ?? throw new Errors\NotFound(Item::MIN);
    }

    public function count(): int
    {
        function inner_count(array $all): int { return \count($all); }

        return $this->clock?->now()->day();
    }

    abstract protected function label(): string;
}

interface Sellable extends Priced, Named
{
    public function sell(int $amount): bool;
}

trait Loggable
{
    protected function log(string $line): void
    {
        error_log(format_label($line));
    }
}

enum Size: string implements HasLabel
{
    case Small = 's';
    case Large = 'l';

    public static function default(): self { return self::Small; }
}

if (!function_exists('total')) {
    /** Adds the prices. */
    function total(Item ...$items): int
    {
        return array_sum(array_map($items, $visitor = new class extends Base {
            public function visit(Item $item): void {}
        }));
    }
}

class ItemTest extends TestCase
{
    public function test_total(): void { $this->assertSame(0, total()); }
}
?>
<h1><?= total() ?></h1>
