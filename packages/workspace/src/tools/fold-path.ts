/** One form for all paths that some file system takes for the same: those that fold case or normalise Unicode. */
export function foldPath(path: string): string {
  return path
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .toUpperCase()
    .toLowerCase();
}
