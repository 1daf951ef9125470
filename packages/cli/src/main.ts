#!/usr/bin/env node
import { type ExitCode, exitCodes } from "./exit-code.js";
import { run } from "./run.js";
import { createTerminal } from "./terminal/terminal.js";

// The reader of a pipe went away (`| head`), or the terminal did: nobody is left to write for. A command that has something
// to put in order listens to SIGHUP. A full disk is another matter: what was asked for is not there.
let isDone = false;
let stdoutError: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error) => {
  // Every further line fails as well.
  if (stdoutError !== undefined) return;
  stdoutError = error;
  if (isDone) return;
  if (process.listenerCount("SIGHUP") > 0) process.kill(process.pid, "SIGHUP");
  else end(exitCodes.ok);
});
process.stderr.on("error", () => undefined);

// A command that waits for nothing but a model without a connection is not done yet.
setInterval(() => undefined, 2 ** 30);
const code = await run(process.argv.slice(2), createTerminal());
isDone = true;
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
end(code);

/** Whatever a client of a store still holds open must not keep the command from ending. */
function end(exitCode: ExitCode): never {
  // Node would set back a terminal that is gone, and abort because it cannot.
  if (stdoutError?.code === "EIO") {
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }
  const isUnread = ["EPIPE", "ECONNRESET", "EIO"].includes(stdoutError?.code ?? "");
  if (stdoutError === undefined || isUnread) process.exit(exitCode);
  process.stderr.write(`holdfast: stdout cannot be written: ${stdoutError.message}\n`);
  // That nobody could be told is what ended it, not a signal from outside.
  const isOwnDoing = exitCode === exitCodes.ok || exitCode === exitCodes.terminated;
  process.exit(isOwnDoing ? exitCodes.failed : exitCode);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}
