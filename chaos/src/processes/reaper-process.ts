// A standalone reaper, through the public API.
import { loadConfig, openDeployment, startReaper } from 'unstuck'
import { SWEEP_MS } from '../settings.ts'

const { UNSTUCK_SHARDS: _, ...env } = process.env
const { shards } = loadConfig({ env: process.env })
/** A shard is opened as a database of its own. */
const deployments =
  shards === null
    ? [openDeployment(loadConfig({ env }))]
    : shards.map(({ url }) => openDeployment(loadConfig({ env: { ...env, DATABASE_URL: url } })))
const reaper = startReaper({
  tables: deployments.flatMap(({ tables }) => tables),
  intervalMs: SWEEP_MS,
  reaperId: process.env['CHAOS_WORKER'] ?? 'reaper',
})
process.once('disconnect', () => process.exit(1))
process.once('SIGTERM', () => {
  void reaper
    .stop()
    .then(() => Promise.all(deployments.map((deployment) => deployment.close())))
    .then(() => process.exit(0))
})
process.send?.({ kind: 'ready' })
