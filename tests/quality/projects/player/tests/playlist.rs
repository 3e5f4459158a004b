use player::playlist::{Playlist, Repeat};
use std::path::Path;

#[test]
fn a_list_that_repeats_starts_again() {
    let mut list = Playlist::from_m3u("a.wav\nb.wav\n", Path::new("/music"));
    list.repeat = Repeat::All;
    list.advance();
    assert_eq!(list.advance(), Some(Path::new("/music/a.wav")));
}
