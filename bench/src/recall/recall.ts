import type { Row, Table } from "../report/table.js";
import type { Scenario } from "../scenarios/scenario.js";
import { CUTOFFS } from "./measure-recall.js";

/** Files of LoCoMo or REALTALK, separated by commas. */
const FILES = "HOLDFAST_RECALL_FILES";

/** Measures how often `session_search` finds the turn that answers a question, against plain BM25. */
export const recall: Scenario = {
  name: "recall",
  summary: `how often session_search finds the answer to a question, against BM25; ${FILES}: also in files of LoCoMo or REALTALK`,
  async run({ progress }): Promise<Table[]> {
    const [{ measureRecall }, { everydayChats }, { airlineQuestions }, { readChatFile }] =
      await Promise.all([
        import("./measure-recall.js"),
        import("./everyday-chats.js"),
        import("./airline-desk-questions.js"),
        import("./chat-files.js"),
      ]);
    const files = (process.env[FILES] ?? "").split(",").filter((file) => file !== "");
    const sets = [
      [everydayChats()],
      [airlineQuestions()],
      ...(files.length === 0 ? [] : [files.flatMap(readChatFile)]),
    ];
    const rows: Row[] = [];
    for (const corpora of sets) {
      const name =
        corpora.length === 1 ? (corpora[0]?.name ?? "") : `${corpora.length} chats of files`;
      progress(`recall: ${name}`);
      const { bm25, ranked, ...more } = await measureRecall(corpora);
      rows.push(
        { store: name, contender: "BM25", figures: [...bm25, null, null, null, null] },
        {
          store: name,
          contender: "session_search",
          figures: [...ranked, more.onPage, more.meanPageTokens, more.maxPageTokens, more.searchMs],
        },
      );
    }
    return [
      {
        name: "recall",
        title: "Questions whose answer is found, %",
        about:
          "Percent of questions with an answering turn among the first 5, 10 and 20 hits, and on the first page of session_search, which also shows the turns beside hits; tokens of a page (o200k), and ms of a search. BM25: single turns, stop words, Porter stems, k1 1.2, b 0.75.",
        columns: [
          ...CUTOFFS.map((cutoff) => ({ name: `@${cutoff}`, unit: "count" as const })),
          { name: "on page", unit: "count" },
          { name: "tokens, mean", unit: "count" },
          { name: "tokens, most", unit: "count" },
          { name: "search", unit: "ms" },
        ],
        rows,
      },
    ];
  },
};
