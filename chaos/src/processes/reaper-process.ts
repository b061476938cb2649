// A standalone reaper, through the public API.
import { loadConfig, openDeployment, startReaper } from 'unstuck'
import { SWEEP_MS } from '../settings.ts'

const deployment = openDeployment(loadConfig({ env: process.env }))
const reaper = startReaper({
  tables: deployment.tables,
  intervalMs: SWEEP_MS,
  reaperId: process.env['CHAOS_WORKER'] ?? 'reaper',
})
process.once('disconnect', () => process.exit(1))
process.once('SIGTERM', () => {
  void reaper
    .stop()
    .then(() => deployment.close())
    .then(() => process.exit(0))
})
process.send?.({ kind: 'ready' })
