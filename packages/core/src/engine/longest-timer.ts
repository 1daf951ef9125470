/** What a timer can hold; a longer one, `Infinity` too, would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;
