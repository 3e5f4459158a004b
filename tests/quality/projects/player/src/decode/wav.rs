use super::{DecodeError, Decoder};

const HEADER_BYTES: usize = 44;

/// Reads uncompressed WAV files of 16 bits.
pub struct WavDecoder {
    data: Vec<u8>,
    at: usize,
    rate: u32,
}

impl WavDecoder {
    pub fn new(data: Vec<u8>) -> Result<Self, DecodeError> {
        if data.len() < HEADER_BYTES {
            return Err(DecodeError::Truncated { wanted: HEADER_BYTES, found: data.len() });
        }
        let bits = u16::from_le_bytes([data[34], data[35]]);
        if bits != 16 {
            return Err(DecodeError::UnsupportedBits(bits));
        }
        let rate = u32::from_le_bytes([data[24], data[25], data[26], data[27]]);
        Ok(WavDecoder { data, at: HEADER_BYTES, rate })
    }
}

impl Decoder for WavDecoder {
    fn sample_rate(&self) -> u32 {
        self.rate
    }

    fn next_block(&mut self) -> Result<Option<Vec<f32>>, DecodeError> {
        let end = (self.at + 8192).min(self.data.len());
        if self.at >= end {
            return Ok(None);
        }
        let block = self.data[self.at..end]
            .chunks_exact(2)
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]) as f32 / 32768.0)
            .collect();
        self.at = end;
        Ok(Some(block))
    }
}
