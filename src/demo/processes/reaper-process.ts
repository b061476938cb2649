// The demo's dedicated reaper, in a process that can be killed.
import { openDeployment } from '../../compose/index.ts'
import { loadConfig } from '../../config/index.ts'
import { startReaper } from '../../runtime/services/reaper.ts'
import { demoPolicy, type FromProcess, readProcessSettings } from '../demo-settings.ts'

const { databaseUrl, schema } = readProcessSettings()
const { tables } = openDeployment({ ...loadConfig({ env: {} }), schema }, databaseUrl)
process.once('disconnect', () => process.exit(1))
let hasSwept = false
startReaper({
  tables,
  intervalMs: demoPolicy.sweepIntervalMs,
  onSweep: () => {
    if (!hasSwept) process.send?.({ kind: 'ready' } satisfies FromProcess)
    hasSwept = true
  },
})
