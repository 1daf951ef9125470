// A keeper in a process of its own.
// Usage: node keeper-node.mjs <store choice as JSON> <options as JSON: persistence, delayMs, dieAt, holdAt>
// stdin: {"input": …, "ctx": …, "stopAt": …, "blockMs": …} as JSON starts a call. stdout: "<session> asked <words>", "<session> answers <words>", "<session> tool <name>",
// "<session> did <name>", "<session> reply <text>", "<session> failed <code> <class>"; "ready" when it takes calls.
// With `stopAt` it stops itself, as SIGSTOP from outside would, once it comes to that point, and goes on from there, with no
// turn of the event loop between; with `blockMs` as well it blocks its event loop there for as long. With `dieAt` it kills itself, as kill -9 would, before that command of the store;
// with `holdAt` its calls get no further than that.
import { createInterface } from "node:readline";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { keeper } from "./keeper.mjs";

let stopAt;
let blockMs;
const [choice, { dieAt, holdAt, ...options }] = process.argv
  .slice(2, 4)
  .map((arg) => JSON.parse(arg));
const { store } = openNodeStore(choice);
const say = (sessionId, what) => process.stdout.write(`${sessionId} ${what}\n`);

function stop() {
  if (blockMs === undefined) process.kill(process.pid, "SIGSTOP");
  // The signal may take a moment; nothing else of this process may run before it came.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs ?? 500);
}

if (dieAt === "final save") {
  const { stateStore } = store;
  const save = stateStore.save.bind(stateStore);
  stateStore.save = (slot, write) => {
    // The words are in the context only when the call ends.
    if (slot.sessionId !== "ready" && write.append.length > 0) process.kill(process.pid, "SIGKILL");
    return save(slot, write);
  };
}

if (dieAt === "inbox remove") {
  const { inbox } = store.stateStore;
  inbox.remove = () => process.kill(process.pid, "SIGKILL");
}

const agent = keeper(store, {
  ...options,
  tell: (what, sessionId) => {
    say(sessionId, what);
    if (what === stopAt) stop();
    return what === holdAt ? new Promise(() => undefined) : undefined;
  },
});

createInterface({ input: process.stdin }).on("line", (line) => {
  const { input, ctx, ...rest } = JSON.parse(line);
  ({ stopAt, blockMs } = rest);
  agent.call(input, ctx).then(
    ({ text }) => say(ctx.sessionId, `reply ${text}`),
    ({ code, errorClass }) => say(ctx.sessionId, `failed ${code} ${errorClass}`),
  );
});
// Connections and tables are made before the first lease, which would not last until they are there on a busy machine.
await agent.call("hello", { userId: "u", sessionId: "ready" });
process.stdout.write("ready\n");
