// Where PostgreSQL and the model are known to differ, each kept out of the runs here and nowhere else. A rule goes away
// with its difference.
/**
 * K4: one job twice in a call to cancel or retry. PostgreSQL answers both alike, the memory store the second one from
 * what the first has done. Nothing else differs, so the runs ask about each job once.
 */
export function eachOnce(indexes: number[]): number[] {
  return [...new Set(indexes)]
}
