// A gate that never grants and never closes, and one that is sound; run by `node --test`.
import { InProcessSessionGate } from "@holdfast/core";
import { describeSessionGate } from "@holdfast/testing";

const hanging = {
  ...{ contract: 1, kind: "hanging", reach: "process" },
  acquire: () => new Promise(() => setInterval(() => {}, 1_000)),
  calls: async () => [],
};

describeSessionGate("hanging", {
  create: () => hanging,
  cleanup: () => new Promise(() => {}),
  timeoutMs: 100,
});
describeSessionGate("sound", { create: () => new InProcessSessionGate() });
