import { triggerTokens } from "./bookkeeper.js";
import { type ContextChange, figure } from "./context-change.js";
import { windowTokens } from "./provider.js";
import type { TurnRecord } from "./session.js";
import { smallerModel, turns } from "./story.js";
import { aside, heading, line } from "./terminal.js";

/** Tells every ten turns how far the session is. */
export class Progress {
  #told = 0;

  begin(): void {
    heading(`One session, ${turns} turns, a context that always fits`);
    aside("Offline: the model is a script that decides by what it is shown, and by nothing else.");
    aside(
      `It says it has a window of ${figure(windowTokens)} tokens; compaction begins at ${figure(triggerTokens)}.`,
    );
    aside(
      `In turn ${smallerModel.turn} the provider serves one of ${figure(smallerModel.windowTokens)} tokens, without a word.`,
    );
  }

  turn({ turn, request }: TurnRecord, contextChanges: readonly ContextChange[]): void {
    if (turn % 10 > 0) return;
    const news = contextChanges.slice(this.#told).map(({ kind }) => kind);
    this.#told = contextChanges.length;
    const size = `${String(request.messages).padStart(4)} messages ${figure(request.tokens).padStart(7)} tokens`;
    line(`turn ${String(turn).padStart(3)} ${size}   ${news.join(", ")}`.trimEnd());
  }
}
