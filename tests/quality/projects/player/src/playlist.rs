//! What is played next.
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq)]
pub enum Repeat {
    Off,
    One,
    All,
}

/// The files to play, in order, and where the player stands in them.
pub struct Playlist {
    files: Vec<PathBuf>,
    current: usize,
    pub repeat: Repeat,
}

impl Playlist {
    /// Read an M3U list; lines that start with `#` are comments, paths are relative to the list.
    pub fn from_m3u(text: &str, folder: &Path) -> Self {
        let files = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| folder.join(line))
            .collect();
        Playlist { files, current: 0, repeat: Repeat::Off }
    }

    /// The file after the current one; none at the end unless the list repeats.
    pub fn advance(&mut self) -> Option<&Path> {
        if self.repeat != Repeat::One {
            self.current += 1;
        }
        if self.current >= self.files.len() && self.repeat == Repeat::All {
            self.current = 0;
        }
        self.files.get(self.current).map(PathBuf::as_path)
    }
}
