/** Reads, and never says a word. */
process.stdin.resume();
