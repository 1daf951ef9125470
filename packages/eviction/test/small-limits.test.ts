import { InMemoryOffloader } from "@holdfast/core";
import { expect, test } from "vitest";
import { evictionOf } from "../src/index.js";
import { takeTurn, toolThat } from "./one-turn.js";

test("limits may be as small as one likes; what would not get smaller stays", async () => {
  const offloader = new InMemoryOffloader();
  const eviction = { maxResultChars: 100, previewChars: 10 };
  const { results } = await takeTurn(
    [toolThat(() => "x".repeat(5_000)), toolThat(() => "y".repeat(101), "short")],
    { eviction, offloader },
  );
  const [long, short] = results;
  expect(long && evictionOf(long)).toMatchObject({ chars: 5_000 });
  expect(JSON.stringify(long).length).toBeLessThan(1_000);
  expect(short && evictionOf(short)).toBeNull();
});

test("the offloader is told which directory is wished for", async () => {
  const wished: unknown[] = [];
  const offloader = {
    offloadContext: async () => ({ reference: "c", readBack: "Read c." }),
    offloadToolResult: async (_slot: unknown, _result: unknown, options: unknown) => {
      wished.push(options);
      return { reference: "r", readBack: "Read r." };
    },
  };
  const tools = [toolThat(() => "x".repeat(90_000))];
  await takeTurn(tools, { offloader });
  await takeTurn(tools, { offloader, eviction: { directory: "big" } });
  expect(wished).toEqual([{ directory: "large_tool_results" }, { directory: "big" }]);
});
