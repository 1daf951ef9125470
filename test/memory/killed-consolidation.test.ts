import { expect, test } from "vitest";
import { memoryHome, times, user } from "./memory-home.js";

test("a process killed while the model writes a new memory is followed by another", async () => {
  const home = await memoryHome();
  await home.files.writeMemory(user, "# Memory\n- fact-old-0;\n");
  const victim = await home.start({ hang: "consolidation", session: "one" });
  victim.send("calls a 1");
  await victim.line("consolidating");
  const heir = await home.start({ minGapMs: 300, throttleMs: 100, session: "two" });
  heir.send("calls b 1");
  await heir.line("flushed");
  await home.files.appendMemory(user, "- fact-saved-0;\n");
  expect(heir.lines).not.toContain("consolidating");
  expect(await home.files.readMemory(user)).toBe("# Memory\n- fact-old-0;\n- fact-saved-0;\n");
  await victim.kill9();
  await heir.line((line) => line.startsWith("consolidation end"));
  heir.send("close");
  expect((await heir.exited).code).toBe(0);
  const memory = await home.files.readMemory(user);
  for (const fact of ["fact-old-0;", "fact-a-0;", "fact-b-0;", "fact-saved-0;"])
    expect(times(memory, fact), fact).toBe(1);
});

test("a process killed between the new memory and its watermark costs a second merge, no note", async () => {
  const home = await memoryHome();
  const victim = await home.start({ hang: "watermark", session: "one" });
  victim.send("calls a 1");
  await victim.line("watermark");
  expect(times(await home.files.readMemory(user), "fact-a-0;")).toBe(1);
  await home.files.appendMemory(user, "- fact-saved-0;\n");
  await victim.kill9();
  const heir = await home.start({ minGapMs: 300, throttleMs: 100, session: "two" });
  heir.send("calls b 1");
  await heir.line((line) => line.startsWith("consolidation end"));
  heir.send("close");
  await heir.exited;
  const memory = await home.files.readMemory(user);
  expect(memory.startsWith("# Memory\n")).toBe(true);
  for (const fact of ["fact-a-0;", "fact-b-0;", "fact-saved-0;"])
    expect(times(memory, fact), fact).toBe(1);
});
