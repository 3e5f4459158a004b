use super::{DecodeError, Decoder};

/// Reads raw samples of 16 bits without a header.
pub struct PcmDecoder {
    data: Vec<u8>,
    at: usize,
    rate: u32,
}

impl PcmDecoder {
    pub fn new(data: Vec<u8>, rate: u32) -> Self {
        PcmDecoder { data, at: 0, rate }
    }
}

impl Decoder for PcmDecoder {
    fn sample_rate(&self) -> u32 {
        self.rate
    }

    fn next_block(&mut self) -> Result<Option<Vec<f32>>, DecodeError> {
        if self.at >= self.data.len() {
            return Ok(None);
        }
        let end = (self.at + 4096).min(self.data.len());
        let block = self.data[self.at..end]
            .chunks_exact(2)
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]) as f32 / 32768.0)
            .collect();
        self.at = end;
        Ok(Some(block))
    }
}
