const loneSurrogate = /\p{Surrogate}/u;

/** Whether UTF-8 can hold `text` without loss: it has no lone surrogate. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}
