//! Several streams as one.

/// Add streams sample by sample and keep the sum between -1 and 1.
pub fn mix(streams: &[Vec<f32>], volume: f32) -> Vec<f32> {
    let length = streams.iter().map(Vec::len).max().unwrap_or(0);
    (0..length)
        .map(|at| {
            let sum: f32 = streams.iter().filter_map(|stream| stream.get(at)).sum();
            (sum * volume).clamp(-1.0, 1.0)
        })
        .collect()
}

/// Fade from one stream into the next over `count` samples.
pub fn crossfade(old: &[f32], new: &[f32], count: usize) -> Vec<f32> {
    (0..count)
        .map(|at| {
            let share = at as f32 / count as f32;
            old.get(at).unwrap_or(&0.0) * (1.0 - share) + new.get(at).unwrap_or(&0.0) * share
        })
        .collect()
}
