// Runs a long command and exits in the middle of it: what it started must not outlive it.
import { LocalFilesystem } from "@holdfast/workspace";

const files = new LocalFilesystem({ root: process.argv[2], shell: true });
const namespace = { agentId: "agent", userId: "user", sessionId: "session" };
const { signal } = new AbortController();
const command = "sh -c 'echo $$ > pid; exec sleep 1000'";
files.run(namespace, { command, timeoutMs: 100_000, signal }).catch(() => undefined);
process.stdin.once("data", () => process.exit(0));
