#!/usr/bin/env python3
"""Runs a command whose standard output is a terminal of 80 x 24, and prints what it wrote there."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def main():
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST  # line ends stay as they are
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=theirs)
    os.close(theirs)
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # Linux: the last one that held the terminal has closed it
            break
        if not block:
            break
        sys.stdout.buffer.write(block)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
