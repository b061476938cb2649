import type { ModeStore, Observations } from '../../job-store.ts'
import { askFirst, readAll, writeAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindModes<Tx>(shards: ShardSet<Tx>): ModeStore {
  return {
    // The same in every shard: setMode changes all of them.
    readMode: () => askFirst(shards, ({ store }) => store.readMode()),
    readAttachment: () => askFirst(shards, ({ store }) => store.readAttachment()),
    setMode: async (mode, options) =>
      (await writeAll(shards, ({ store }) => store.setMode(mode, options)))[0],
    async readObservations() {
      const { answers } = await readAll(shards, ({ store }) => store.readObservations())
      return answers.map(({ answer }) => answer).reduce(addObservations)
    },
  }
}

function addObservations(a: Observations, b: Observations): Observations {
  return {
    since: a.since ?? b.since,
    wouldRequeue: a.wouldRequeue + b.wouldRequeue,
    wouldDeadLetter: a.wouldDeadLetter + b.wouldDeadLetter,
    wouldCancel: a.wouldCancel + b.wouldCancel,
    cameBack: a.cameBack + b.cameBack,
    stillStuck: a.stillStuck + b.stillStuck,
    reaped: a.reaped + b.reaped,
    gone: a.gone + b.gone,
  }
}
