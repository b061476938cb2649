import type { RuntimeEventEmitter } from '../../observe/events.ts'
import { logEvents } from '../../observe/logs/log-events.ts'
import { printWarnings } from '../../observe/logs/print-warnings.ts'
import type { UnstuckOptions } from '../options.ts'

/** To the logger of the application; without one, warnings and failures to stderr, except in production. */
export function showEvents(events: RuntimeEventEmitter, { logger, logStacks = false }: UnstuckOptions): void {
  if (logger === false) return
  const options = { withStacks: logStacks }
  if (logger !== undefined) logEvents(events, logger, options)
  else if (process.env['NODE_ENV'] !== 'production')
    printWarnings(events, (line) => void process.stderr.write(line), options)
}
