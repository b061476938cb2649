// A schedule has a home shard, which fires it: the one that has it, else that of its name.
import type { ScheduleStore, Shard } from '../../job-store.ts'
import { readAll, writeAll } from '../routing/fan-out.ts'
import type { ShardSet } from '../routing/shard-set.ts'

export function bindSchedules<Tx>(shards: ShardSet<Tx>): ScheduleStore {
  /** Where schedules were last seen. */
  const homes = new Map<string, Shard<Tx>>()
  const list = async () => {
    const read = await readAll(shards, ({ store }) => store.listSchedules())
    for (const { shard, answer } of read.answers)
      for (const { name } of answer.schedules) homes.set(name, shard)
    return read
  }
  /** Refused while a shard is silent that may have it: written to another one, it would fire twice. */
  const findHome = async (name: string) => {
    const known = homes.get(name)
    if (known !== undefined) return known
    const all = await writeAll(shards, async (shard) => ({ shard, list: await shard.store.listSchedules() }))
    const found = all.find(({ list: { schedules } }) => schedules.some((schedule) => schedule.name === name))
    return found?.shard
  }
  return {
    async writeSchedule(schedule) {
      const home = (await findHome(schedule.name)) ?? shards.forKey(schedule.name)
      const written = await shards.noted(home, home.store.writeSchedule(schedule))
      homes.set(schedule.name, home)
      return written
    },
    async deleteSchedule(name, options) {
      homes.delete(name)
      return (await writeAll(shards, ({ store }) => store.deleteSchedule(name, options))).some(Boolean)
    },
    async listSchedules() {
      const { answers, silence } = await list()
      const now = new Date(Math.min(...answers.map(({ answer }) => answer.now.getTime())))
      const schedules = answers.flatMap(({ answer }) => answer.schedules)
      return { now, schedules: schedules.toSorted((a, b) => (a.name < b.name ? -1 : 1)), ...silence }
    },
    async runSchedule(name, occurrence) {
      const home = (await findHome(name)) ?? shards.forKey(name)
      const run = await shards.noted(home, home.store.runSchedule(name, occurrence))
      // Another process may have moved it.
      if (run.outcome === 'not-found') homes.delete(name)
      return run
    },
  }
}
