export { matchRanges, type TextRange } from "./match-ranges.js";
export { searchWords } from "./query-terms.js";
export {
  type SearchedWord,
  type TextEntry,
  type TextHit,
  type TextHits,
  TextIndex,
  type TextSearch,
} from "./text-index.js";
export { foldText } from "./words.js";
