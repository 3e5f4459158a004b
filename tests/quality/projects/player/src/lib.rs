//! A player for sound files.
pub mod buffer;
pub mod decode;
pub mod mixer;
pub mod playlist;

pub use buffer::RingBuffer;
pub use playlist::Playlist;
