// Questions of a history and their answers. A question says how the scripted model and the tools behave; an answer names
// the question it belongs to.

/**
 * Text of a question.
 *
 * @param {string} id
 * @param {import("./question.d.mts").Script} script
 */
export function questionText(id, script) {
  return `ask ${id} ${JSON.stringify(script)}`;
}

/** Id and script of a question; null for any other text. */
export function readQuestion(text) {
  const found = /^ask (\S+) (\{.*\})$/s.exec(text);
  return found === null ? null : { id: found[1], script: JSON.parse(found[2]) };
}

/** Pieces in which an answer is streamed; the first one names the question, so that a cut answer does too. */
export function answerPieces(id, nonce, words) {
  return [
    `re ${id} #${nonce}`,
    ...Array.from({ length: words }, (_, n) => ` word${n}`),
    ...(words > 0 ? [" end"] : []),
  ];
}

/** Id of the question that an answer names; null for any other text. */
export function answeredQuestion(text) {
  return /^re (\S+) #/.exec(text)?.[1] ?? null;
}
