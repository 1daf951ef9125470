#!/usr/bin/env node
import { run } from "./run.js";
import { createTerminal } from "./terminal/terminal.js";

// The reader of a pipe went away (`| head`), or the terminal did. A command that has something to put in order listens to
// SIGHUP; for the others nobody is left to write for.
let isDone = false;
process.stdout.on("error", () => {
  if (isDone) return;
  if (process.listenerCount("SIGHUP") > 0) process.kill(process.pid, "SIGHUP");
  else process.exit(0);
});
process.stderr.on("error", () => undefined);

// A command that waits for nothing but a model without a connection is not done yet.
setInterval(() => undefined, 2 ** 30);
const code = await run(process.argv.slice(2), createTerminal());
isDone = true;
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
// Whatever a client of a store still holds open must not keep the command from ending.
process.exit(code);

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}
