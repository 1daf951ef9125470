#!/usr/bin/env node
import { type ExitCode, exitCodes } from "./exit-code.js";
import { run } from "./run.js";
import { createTerminal } from "./terminal/terminal.js";

// The reader of a pipe (`| head`) or the terminal was closed. Commands that need to clean up listen for SIGHUP. A full disk
// is different: the output that was asked for is missing, so it is an error.
let isDone = false;
let stdoutError: NodeJS.ErrnoException | undefined;
process.stdout.on("error", (error) => {
  // Every further write fails as well.
  if (stdoutError !== undefined) return;
  stdoutError = error;
  if (isDone) return;
  if (process.listenerCount("SIGHUP") > 0) process.kill(process.pid, "SIGHUP");
  else end(exitCodes.ok);
});
process.stderr.on("error", () => undefined);

// Keeps the process alive while a command awaits a model that holds no connection.
setInterval(() => undefined, 2 ** 30);
const code = await run(process.argv.slice(2), createTerminal());
isDone = true;
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
end(code);

/** Exits, even if a client of a store still holds a connection. */
function end(exitCode: ExitCode): never {
  // Node would try to restore the modes of the closed terminal, and abort when it fails.
  if (stdoutError?.code === "EIO") {
    process.removeAllListeners("SIGHUP");
    process.kill(process.pid, "SIGHUP");
  }
  const isUnread = ["EPIPE", "ECONNRESET", "EIO"].includes(stdoutError?.code ?? "");
  if (stdoutError === undefined || isUnread) process.exit(exitCode);
  process.stderr.write(`holdfast: stdout cannot be written: ${stdoutError.message}\n`);
  // The failed write ended the command, not a signal from outside.
  const isOwnDoing = exitCode === exitCodes.ok || exitCode === exitCodes.terminated;
  process.exit(isOwnDoing ? exitCodes.failed : exitCode);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}
