//! Files of any format as samples.
pub mod pcm;
pub mod wav;

#[derive(Debug)]
pub enum DecodeError {
    UnknownFormat(String),
    Truncated { wanted: usize, found: usize },
    UnsupportedBits(u16),
}

/// A stream of samples between -1 and 1.
pub trait Decoder {
    fn sample_rate(&self) -> u32;
    fn next_block(&mut self) -> Result<Option<Vec<f32>>, DecodeError>;
}

/// Choose the decoder by the first bytes of a file, not by its name.
pub fn open(data: Vec<u8>) -> Result<Box<dyn Decoder>, DecodeError> {
    if data.starts_with(b"RIFF") {
        return Ok(Box::new(wav::WavDecoder::new(data)?));
    }
    if data.len() % 2 == 0 {
        return Ok(Box::new(pcm::PcmDecoder::new(data, 44_100)));
    }
    Err(DecodeError::UnknownFormat(format!("{:?}", &data[..data.len().min(4)])))
}
