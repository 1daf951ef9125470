/** Returns the same form for all paths that a file system which folds case or normalises Unicode takes for one. */
export function foldPath(path: string): string {
  return path
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toUpperCase()
    .toLowerCase();
}
