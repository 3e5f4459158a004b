// Reads feeds.
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.Linq.JObject;

namespace Shop.Feeds
{
    /// <summary>Reads one feed.</summary>
    [Serializable]
    [DebuggerDisplay("{Name}")]
    public sealed partial class FeedReader<TItem> : ReaderBase<TItem>, IFeed, Shop.IClosable
        where TItem : class, new()
    {
        public const int MaxItems = 50;
        private static readonly Regex Pattern = new Regex("a+");
        private readonly List<TItem> items = new();

        public string Name { get; set; } = "";
        public int Count => items.Count;

        public Uri Source
        {
            get { return Resolve(Name); }
            set => Name = value.ToString();
        }

        public event EventHandler<FeedEvent> Changed;

        [JsonConstructor]
        public FeedReader(HttpClient client, string? name) : base(client)
        {
            Name = name ?? nameof(FeedReader<TItem>);
        }

        /// <summary>
        /// Reads all items.
        /// </summary>
        /// <param name="token">Stops the reading.</param>
        [Obsolete("Use Stream")]
        public async Task<IReadOnlyList<TItem>> ReadAsync<TFormat>(
            TFormat format,
            CancellationToken token = default)
        {
            void Add(TItem item) => items.Add(item);
            var parsed = await Parser.Parse<TItem>(format, token);
            Changed?.Invoke(this, new FeedEvent(parsed as Json));
            return items;
        }

        public override string ToString() => Format(Name);

        public enum State : byte { Idle, Reading }

        public struct Position { public int Line; }

        public record Entry(string Title, Uri Link) : IEntry;

        public interface IVisitor : IDisposable, IVisitor<Entry>
        {
            void Visit(Entry entry);
        }

        public delegate bool Filter(TItem item);
    }

    public class FeedReaderTests(Fixture fixture) : TestBase(fixture)
    {
        [Fact] public void Reads() { Assert.Equal(1, new FeedReader<Item>(null, "a").Count); }
        [Fact] public void Fails() { }
    }
}
