// Judges each shard by its own history, and that an outage of one did not stop the others.
import { checkHistory } from './check-history.ts'
import type { History } from './history.ts'
import { checkOthersGoOn, joinHistories } from './shards.ts'
import { summarise } from './summary.ts'

/** `recorded` is what the run recorded outside of the databases, of all shards. */
export function judgeShards(
  histories: [History, ...History[]],
  recorded: Parameters<typeof joinHistories>[1],
) {
  const judgements = histories.map(checkHistory)
  const { outages, least, violations: stopped } = checkOthersGoOn(histories)
  const judgement = {
    violations: [
      ...judgements.flatMap(({ violations }) => violations),
      ...stopped.filter(({ isStarved }) => isStarved !== true),
    ],
    unjudged: [
      ...judgements.flatMap(({ unjudged }) => unjudged),
      ...stopped.filter(({ isStarved }) => isStarved === true),
    ],
    stories: new Map(judgements.flatMap(({ stories }) => [...stories])),
  }
  const history = histories.length === 1 ? histories[0] : joinHistories(histories, recorded)
  const meanwhile = histories.length === 1 ? {} : { shardOutages: { count: outages, leastMeanwhile: least } }
  return { history, ...judgement, summary: { ...meanwhile, ...summarise(history, judgement) } }
}
