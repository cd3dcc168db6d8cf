//! What comes out of an xz file, from its beginning on, with parts passed over. Of a file of several blocks whole blocks
//! are passed over without being unpacked, and several are unpacked at once as soon as two in a row are wanted.

mod index;

#[cfg(test)]
mod tests;

use super::region::Region;
use index::Index;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{MtStreamBuilder, Stream};
use std::io::{self, BufReader, Chain, Cursor, Read};

/// How much is read of the file at once.
const AHEAD: usize = 128 << 10;

/// What is passed over goes through so much.
const SCRATCH: usize = 64 << 10;

/// A file that is being unpacked.
pub struct Reader {
    file: Region,
    index: Index,
    /// How many blocks may be unpacked at once.
    threads: u64,
    /// The memory that they may take.
    memory: u64,
    at: u64,
    run: Option<Run>,
    /// Whether the last run was left by passing over what follows: then it is likely to happen again.
    jumped: bool,
}

/// Blocks in a row, being unpacked.
struct Run {
    decoder: XzDecoder<BufReader<Chain<Cursor<[u8; 12]>, Region>>>,
    /// Where it ends in what comes out.
    end: u64,
    /// Whether the stream's index belongs to it.
    whole: bool,
    threaded: bool,
}

impl Reader {
    /// Reads what the file says about itself. At most `cores` blocks are unpacked at once, and fewer where that would take
    /// more than `memory`; a file that takes more in any case is refused.
    pub fn open(file: Region, cores: usize, memory: u64) -> Result<Self, String> {
        let index = index::read(&file)?;
        if index.dictionary > memory {
            return Err(format!(
                "it needs {} bytes of memory, and {memory} is the most that it gets",
                index.dictionary
            ));
        }
        // Blocks that are larger than the others wait for each other: the decoder keeps to its memory by itself.
        let count = (index.blocks.len() as u64).max(1);
        let packed: u64 = index.blocks.iter().map(|b| b.packed).sum();
        let each = (packed / count).saturating_add(index.total / count).saturating_add(index.dictionary);
        let several = index.streams.iter().any(|stream| stream.blocks > 1);
        let threads = if several { (memory / each.max(1)).min(cores as u64) } else { 1 };
        let memory =
            if threads > 1 { memory.min(threads.saturating_mul(each) * 3 / 2) } else { index.dictionary };
        Ok(Self { file, index, threads, memory, at: 0, run: None, jumped: true })
    }

    /// What comes out of the whole file.
    pub fn total(&self) -> u64 {
        self.index.total
    }

    /// The memory that unpacking takes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Passes over bytes; whether they are there.
    pub fn skip(&mut self, count: u64) -> io::Result<bool> {
        if count == 0 {
            return Ok(true);
        }
        let Some(target) = self.at.checked_add(count).filter(|target| *target <= self.index.total) else {
            return Ok(false);
        };
        let ahead = self.block(target).saturating_sub(self.block(self.at)) as u64;
        if let Some(run) = &self.run {
            // What several threads are at now is there in less time than a new beginning takes.
            let near = if run.threaded { self.threads } else { 0 };
            if target < run.end && ahead <= near {
                return self.discard(count).map(|()| true);
            }
        }
        self.run = None;
        self.jumped = ahead > 1;
        self.at = target;
        Ok(true)
    }

    fn discard(&mut self, mut count: u64) -> io::Result<()> {
        let mut scratch = vec![0; SCRATCH];
        while count > 0 {
            let most = usize::try_from(count).unwrap_or(SCRATCH).min(SCRATCH);
            let read = self.read(scratch.get_mut(..most).unwrap_or_default())?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            count -= read as u64;
        }
        Ok(())
    }

    /// The block that what comes out at a place is in; behind the last one: their number.
    fn block(&self, at: u64) -> usize {
        self.index.blocks.partition_point(|b| b.out_start + b.out <= at)
    }

    /// Begins with the block at the current place. After a jump only that one is unpacked; where the next one is wanted
    /// as well, all that follow.
    fn start(&mut self) -> io::Result<()> {
        let first = self.block(self.at);
        let blocks = self.index.blocks.get(first..).unwrap_or_default();
        let Some(block) = blocks.first() else { return Ok(()) };
        let Some(stream) = self.index.streams.get(block.stream) else { return Ok(()) };
        let threaded = self.threads > 1 && !self.jumped;
        let count = if threaded { blocks.iter().take_while(|b| b.stream == block.stream).count() } else { 1 };
        let last = blocks.get(count - 1).unwrap_or(block);
        let whole = stream.blocks == 1;
        let packed = if whole {
            stream.start + stream.length - block.start
        } else {
            last.start + last.packed - block.start
        };
        let mut head = [0; 12];
        self.file.peek(stream.start, &mut head)?;
        let body = self.file.part(block.start, packed).ok_or(io::ErrorKind::UnexpectedEof)?;
        let decoder = if threaded {
            let threads = u32::try_from(self.threads).unwrap_or(1);
            MtStreamBuilder::new()
                .threads(threads)
                .memlimit_threading(self.memory)
                .memlimit_stop(self.memory)
                .decoder()?
        } else {
            Stream::new_stream_decoder(self.memory.max(self.index.dictionary), 0)?
        };
        let input = BufReader::with_capacity(AHEAD, Cursor::new(head).chain(body));
        let decoder = XzDecoder::new_stream(input, decoder);
        let end = last.out_start + last.out;
        let before = self.at - block.out_start;
        self.at = block.out_start;
        self.run = Some(Run { decoder, end, whole, threaded });
        self.jumped = false;
        self.discard(before)
    }

    /// Ends a run whose bytes have all come: its check sums follow them.
    fn settle(run: &mut Run) -> io::Result<()> {
        match run.decoder.read(&mut [0]) {
            Ok(0) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && !run.whole => Ok(()),
            Err(e) => Err(e),
            Ok(_) => Err(io::Error::other("more comes out than its index says")),
        }
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.end == self.at) {
            Self::settle(run)?;
            self.run = None;
        }
        if self.run.is_none() {
            self.start()?;
        }
        let Some(run) = &mut self.run else { return Ok(0) };
        let left = usize::try_from(run.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let count = run.decoder.read(buffer.get_mut(..left).unwrap_or_default())?;
        if count == 0 {
            return Err(io::Error::other("less comes out than its index says"));
        }
        self.at += count as u64;
        Ok(count)
    }
}
