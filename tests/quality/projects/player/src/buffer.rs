//! Samples on their way from the decoder to the output.
use std::sync::{Condvar, Mutex};

/// A bounded queue of samples that a decoder fills and an output drains.
pub struct RingBuffer {
    samples: Mutex<Vec<f32>>,
    capacity: usize,
    changed: Condvar,
}

impl RingBuffer {
    pub fn new(capacity: usize) -> Self {
        RingBuffer { samples: Mutex::new(Vec::with_capacity(capacity)), capacity, changed: Condvar::new() }
    }

    /// Append samples, waiting while the buffer is full.
    pub fn push(&self, more: &[f32]) {
        let mut samples = self.samples.lock().unwrap();
        while samples.len() + more.len() > self.capacity {
            samples = self.changed.wait(samples).unwrap();
        }
        samples.extend_from_slice(more);
    }

    /// Take up to `count` samples; what is missing is silence, so that an underrun does not stall the output.
    pub fn pop_or_silence(&self, count: usize) -> Vec<f32> {
        let mut samples = self.samples.lock().unwrap();
        let taken = count.min(samples.len());
        let mut found: Vec<f32> = samples.drain(..taken).collect();
        found.resize(count, 0.0);
        self.changed.notify_all();
        found
    }
}
