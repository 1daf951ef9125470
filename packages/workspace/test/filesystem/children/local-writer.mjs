// Appends lines to one file, or replaces it, again and again; says what was done.
import { writeSync } from "node:fs";
import { LocalFilesystem } from "@holdfast/workspace";

const [root, task, name, count] = process.argv.slice(2);
const files = new LocalFilesystem({ root });
const namespace = { agentId: "agent", userId: "user", sessionId: "session" };
const encoder = new TextEncoder();

if (task === "append") {
  process.stdout.write("ready\n");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  for (let number = 0; number < Number(count); number++)
    await files.append(
      namespace,
      "log.txt",
      encoder.encode(`${name} ${number} ${"x".repeat(number % 997)}\n`),
    );
  process.stdout.write("done\n");
} else {
  // A version is a file of one letter and one length, told from all others by both.
  for (let version = Number(count); ; version++) {
    const letter = String.fromCharCode(97 + (version % 26));
    await files.write(namespace, "d/data.txt", encoder.encode(letter.repeat(100_000 + version)));
    writeSync(1, `ack ${version}\n`);
  }
}
process.exit(0);
