// River is written in Go. Its process is built once per run; the import fails where that is impossible.
import { queryOnce } from '../query-once.mjs'
import { buildRiver, runRiver } from './build-river.mjs'

const { program, goVersion } = await buildRiver()

export default {
  name: 'River',
  settings: `Go ${goVersion}, pgx pool of 20, MaxWorkers 1000, FetchCooldown 1 ms, InsertManyFast; row kept`,
  handlerSettings: 'MaxWorkers 100, FetchCooldown 1 ms; row kept',
  needs: 'postgres',
  program,
  jobTable: 'river_job',
  install: (url) => runRiver(program, ['install', 'river', url]),
  openProducer: () => Promise.reject(new Error('its producer is its own program')),
  startWorker: () => Promise.reject(new Error('its worker is its own program')),
  rescue: 'River 0.50.0: 1 h after its start (RescueStuckJobsAfter), checked every 30 s',
  countUnfinished: (url) =>
    queryOnce(
      url,
      `select count(*)::int as count from river_job where state not in ('completed', 'cancelled', 'discarded')`,
    ),
}
