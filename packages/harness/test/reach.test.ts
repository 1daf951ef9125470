import type { Filesystem, FilesystemSpec, Reach } from "@holdfast/core";
import type { FilesystemParts } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { HarnessAgent, type HarnessAgentBuilder } from "../src/index.js";
import { problemsOf } from "./problems-of.js";
import { distributedParts, inMemoryParts, reaching, withoutCompanions } from "./stores.js";

function builder(): HarnessAgentBuilder {
  return HarnessAgent.builder().name("assistant").model(scriptedModel([]));
}

describe("a distributed state store", () => {
  test.each(["gate", "log", "signals"] as const)("is refused with a local %s", (part) => {
    const parts = { ...distributedParts(), [part]: inMemoryParts()[part] };
    const problems = problemsOf(() => builder().distributedStore(parts).build());
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(
      new RegExp(`^${part}: .*serves every node.*only this process.*\\.singleNode\\(\\)`),
    );
  });

  test("is refused with parts that reach this host only", () => {
    const parts = distributedParts();
    const gate = reaching("host", parts.gate);
    expect(problemsOf(() => builder().distributedStore(parts).gate(gate).build())).toEqual([
      expect.stringMatching(/^gate: .*only this host/),
    ]);
  });

  test("alone, without companions, is refused for each part that would be local", () => {
    const alone = withoutCompanions(distributedParts().stateStore);
    const problems = problemsOf(() => builder().stateStore(alone).build());
    expect(problems.map((problem) => problem.split(":")[0])).toEqual(["gate", "log", "signals"]);
  });

  test("takes local parts when only one node will ever run", () => {
    const { gate, log, signals } = inMemoryParts();
    const agent = builder()
      .distributedStore({ ...distributedParts(), gate, log, signals })
      .singleNode();
    expect(problemsOf(() => agent.build())).toEqual([]);
    expect(problemsOf(() => agent.singleNode(false).build())).toHaveLength(3);
  });

  test("takes a local key-value store: it holds no session", () => {
    const { keyValue } = inMemoryParts();
    expect(
      problemsOf(() => builder().distributedStore(distributedParts()).keyValue(keyValue).build()),
    ).toEqual([]);
  });
});

test("a local state store takes parts that reach further", () => {
  const { stateStore } = inMemoryParts();
  const { gate, log, signals } = distributedParts();
  expect(
    problemsOf(() => builder().stateStore(stateStore).gate(gate).log(log).signals(signals).build()),
  ).toEqual([]);
});

describe("a filesystem", () => {
  const filesystem: Filesystem = {
    contract: 1,
    kind: "fake",
    reach: "distributed",
    read: async () => null,
    write: async () => {},
    append: async () => {},
    delete: async () => false,
    list: async () => [],
  };

  function spec(needs: Reach, create: FilesystemSpec["create"] = () => filesystem): FilesystemSpec {
    return { kind: "remote", needs, create };
  }

  test("for many nodes is refused on a local state store, and both are named", () => {
    const build = () => builder().filesystem(spec("distributed")).build();
    expect(problemsOf(build)).toEqual([
      expect.stringMatching(
        /^filesystem: "remote" needs .* every node, but "json" serves only this host; use /,
      ),
    ]);
  });

  const order: readonly Reach[] = ["process", "host", "distributed"];
  for (const [needed, needs] of order.entries())
    for (const [reached, reach] of order.entries())
      test(`that needs "${needs}" is ${needed <= reached ? "taken" : "refused"} on a store that reaches "${reach}"`, () => {
        const stateStore = reaching(reach, inMemoryParts().stateStore);
        const build = () =>
          builder().stateStore(stateStore).singleNode().filesystem(spec(needs)).build();
        expect(problemsOf(build)).toHaveLength(needed <= reached ? 0 : 1);
      });

  test("is made of the workspace and the chosen stores, and plugins get it", async () => {
    const made: FilesystemParts[] = [];
    let seen: Filesystem | undefined;
    const { stateStore, keyValue } = inMemoryParts();
    const agent = builder()
      .stateStore(stateStore)
      .keyValue(keyValue)
      .workspace("somewhere")
      .filesystem(
        spec("process", (parts) => {
          made.push(parts);
          return filesystem;
        }),
      )
      .use({
        name: "reader",
        contract: 1,
        setup(host) {
          const find = host.optional("filesystem");
          host.onStart(async () => {
            seen = find();
          });
        },
      })
      .build();
    await agent.ready();
    expect(seen).toBe(filesystem);
    expect(made).toEqual([{ workspace: agent.harness.workspace, keyValue, stateStore }]);
    await agent.close();
  });

  test("that cannot be made is a problem like others", () => {
    const failing = spec("process", () => {
      throw new TypeError("no bucket was named");
    });
    expect(problemsOf(() => builder().filesystem(failing).workspace("").build())).toEqual([
      expect.stringMatching(/^workspace:/),
      "filesystem: no bucket was named",
    ]);
  });

  test("that is not a spec is refused", () => {
    const wrong = filesystem as unknown as FilesystemSpec;
    expect(problemsOf(() => builder().filesystem(wrong).build())).toEqual([
      expect.stringMatching(/^filesystem: a FilesystemSpec is needed/),
    ]);
  });
});
