import { toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { SandboxFilesystemSpec } from "@holdfast/sandbox";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { scriptedModel, tempDirectory } from "@holdfast/testing";
import { Redis } from "ioredis";
import { expect, inject, onTestFinished, test } from "vitest";

test("a file that a command of one node wrote is there for a command of another", async () => {
  await using directory = await tempDirectory();
  const client = new Redis(inject("redisUrl"));
  onTestFinished(() => client.disconnect());
  const keyPrefix = `${crypto.randomUUID()}:`;
  const session = { userId: "ada", sessionId: "s-1" };
  const outputs: string[] = [];
  for (const command of ["seq 1 3 > numbers.txt", "cat numbers.txt"]) {
    const model = scriptedModel([
      { toolCalls: [{ name: "execute", input: { command } }] },
      "Done.",
    ]);
    const node = HarnessAgent.builder()
      .name("coder")
      .model(model)
      .distributedStore(RedisDistributedStore.from(client, { keyPrefix }))
      .workspace(directory.path)
      .filesystem(new SandboxFilesystemSpec())
      .build();
    await node.call("Go on.", session);
    await node.close();
    const results = model.requests[1]?.messages.flatMap(toolResultsOf) ?? [];
    outputs.push(JSON.stringify(results.at(-1)?.output));
  }
  expect(outputs[0]).toContain("Exit code 0.");
  expect(outputs[1]).toContain("1\\n2\\n3");
});

test("a sandbox is refused at build time when the state store serves one host only", () => {
  const build = (): unknown =>
    HarnessAgent.builder()
      .name("coder")
      .model(scriptedModel([]))
      .filesystem(new SandboxFilesystemSpec())
      .build();
  expect(build).toThrow('filesystem: "sandbox" needs a state store');
});
