import { compareReplays } from "./compare-replays.js";
import { contenders } from "./contenders.js";
import { readConversations } from "./conversation.js";
import { limitsFor } from "./limits.js";
import type { ReplayResult } from "./replay-result.js";
import { replayTable } from "./replay-table.js";
import { scriptOf } from "./script.js";

/** Part of the comparison to run. */
export interface RunReplayOptions {
  readonly windows: readonly number[];
  readonly settings: readonly ReplayResult["setting"][];
  /** Number of recorded conversations to play. @default all */
  readonly conversations?: number | undefined;
  /** With second rows. @default true */
  readonly extras?: boolean | undefined;
  /** Takes lines of text for people. */
  readonly print: (line: string) => void;
}

const titles = {
  alike: "the same trigger and the same kept tail for all",
  defaults: "each with its own defaults",
} as const;

/** Windows to compare in: one, or three where there is time. */
export function replayWindows(): number[] {
  return process.env["HOLDFAST_LONG"] === "1" ? [16_000, 32_000, 64_000] : [32_000];
}

/** Plays the recorded conversations on all contenders and says what each would be billed. */
export async function runReplay(options: RunReplayOptions): Promise<ReplayResult[]> {
  const { windows, settings, conversations, extras = true, print } = options;
  const script = scriptOf(readConversations().slice(0, conversations));
  const all: ReplayResult[] = [];
  print(
    `${script.turns.length} turns of recorded conversations in one session of ${script.messages} messages.`,
  );
  print(
    "Billed: input tokens with a prefix cache (cached: a tenth). Alike: with the same system prompt and tools for all.\n",
  );
  for (const window of windows)
    for (const setting of settings) {
      const { triggerTokens, keepTokens } = limitsFor(window);
      const numbers = setting === "alike" ? ` (${triggerTokens} and ${keepTokens} tokens)` : "";
      print(`Window of ${window} tokens, ${titles[setting]}${numbers}:`);
      const results = await compareReplays({
        script,
        window,
        contenders: contenders.filter(
          (contender) => contender.setting === setting && (extras || !contender.isExtra),
        ),
        onBegin: ({ name }) => print(`  playing on ${name} …`),
      });
      for (const line of replayTable(results)) print(line);
      print("");
      all.push(...results);
    }
  return all;
}
