import { compaction, gptTokenizerCounter } from "@holdfast/compaction";
import type { Limits } from "./limits.js";
import { playDeepagents } from "./play-deepagents.js";
import { playHoldfast } from "./play-holdfast.js";
import { playLangchain } from "./play-langchain.js";
import type { ReplayProvider } from "./replay-provider.js";
import type { ReplayResult } from "./replay-result.js";
import type { Script } from "./script.js";

/** Parts that every contender gets. */
export interface Stage {
  readonly script: Script;
  readonly provider: ReplayProvider;
  readonly limits: Limits;
  readonly fixedTokens: number;
}

/** One who plays the script. */
export interface Contender {
  readonly name: string;
  readonly setting: ReplayResult["setting"];
  /** A second row of a contender, left out where time is short. */
  readonly isExtra?: boolean | undefined;
  play(stage: Stage): Promise<unknown>;
}

/** All who are compared; Holdfast is the first of each setting. */
export const contenders: readonly Contender[] = [
  {
    name: "holdfast",
    setting: "alike",
    play: ({ limits, ...stage }) =>
      playHoldfast({
        ...stage,
        plugins: [compaction({ ...limits })],
        tokenCounter: gptTokenizerCounter(),
      }),
  },
  { name: "langchain", setting: "alike", play: playLangchain },
  {
    name: "langchain, summary of all",
    setting: "alike",
    isExtra: true,
    play: (stage) => playLangchain({ ...stage, summarisedTokens: stage.provider.window }),
  },
  { name: "deepagents", setting: "alike", play: playDeepagents },
  {
    name: "holdfast",
    setting: "defaults",
    play: (stage) => playHoldfast({ ...stage, plugins: [compaction()] }),
  },
  {
    name: "langchain",
    setting: "defaults",
    play: ({ limits: _, ...stage }) => playLangchain(stage),
  },
  {
    name: "deepagents",
    setting: "defaults",
    play: ({ limits: _, ...stage }) => playDeepagents(stage),
  },
];
