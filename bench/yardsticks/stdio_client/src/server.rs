//! A server at the other end of two pipes.

use std::fs::{read_dir, read_to_string};
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::scope;

use crate::Outcome;

pub struct Server {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
}

impl Server {
    pub fn start(command: &str, arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut child = Command::new(command)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no stdin")?;
        let output = child.stdout.take().ok_or("the server has no stdout")?;
        // The size of a pipe's buffer.
        let buffer = vec![0; 64 * 1024];
        Ok(Self {
            child,
            input,
            output,
            buffer,
        })
    }

    pub fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        Ok(self.input.write_all(bytes)?)
    }

    /// Reads the next line, after which the server must not have sent more.
    pub fn read_line(&mut self) -> Outcome<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.extend_from_slice(read_some(&mut self.output, &mut self.buffer)?);
        }
        line.pop();
        Ok(String::from_utf8(line)?)
    }

    /// Reads and discards the next line, after which the server must not have sent more.
    pub fn skip_line(&mut self) -> Outcome<()> {
        while !read_some(&mut self.output, &mut self.buffer)?.ends_with(b"\n") {}
        Ok(())
    }

    /// Writes all of `lines` while it reads `count` lines; returns the bytes read.
    pub fn exchange(&mut self, lines: &[u8], mut count: usize) -> Outcome<usize> {
        let Self {
            input,
            output,
            buffer,
            ..
        } = self;
        scope(|scope| {
            let writer = scope.spawn(|| input.write_all(lines));
            let mut bytes = 0;
            while count > 0 {
                let some = read_some(output, buffer)?;
                bytes += some.len();
                let ends = some.iter().filter(|byte| **byte == b'\n').count();
                count = count
                    .checked_sub(ends)
                    .ok_or("the server said more than it was asked")?;
            }
            writer.join().map_err(|_| "the writer has failed")??;
            Ok(bytes)
        })
    }

    /// The processor time of the server's threads in microseconds.
    pub fn processor_us(&self) -> Outcome<u64> {
        let mut nanoseconds = 0;
        for thread in read_dir(format!("/proc/{}/task", self.child.id()))? {
            let figures = read_to_string(thread?.path().join("schedstat"))?;
            let time = figures.split(' ').next().ok_or("schedstat is empty")?;
            nanoseconds += time.parse::<u64>()?;
        }
        Ok(nanoseconds / 1000)
    }

    /// Closes the server's stdin, which ends the server.
    pub fn end(self) -> Outcome<()> {
        let Self {
            mut child,
            input,
            output,
            ..
        } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

fn read_some<'b>(output: &mut ChildStdout, buffer: &'b mut [u8]) -> Outcome<&'b [u8]> {
    loop {
        match output.read(buffer) {
            Ok(0) => return Err("the server has closed its stdout".into()),
            Ok(read) => return Ok(&buffer[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}
