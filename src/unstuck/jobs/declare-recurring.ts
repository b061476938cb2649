import type { Config } from '../../config/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import { checkNewJob } from '../../job/check-new-job.ts'
import { checkRecurringJob, type DeclaredJob, type RecurringJob } from '../../runtime/services/scheduler.ts'
import { requireRecurring } from '../check-arguments.ts'
import type { UnstuckOptions } from '../options.ts'
import type { RecurringOptions } from '../unstuck-api.ts'
import type { JobSchemas } from './job-schemas.ts'

export interface RecurringParts {
  config: Config
  schemas: JobSchemas
  /** The memory store, whose clock a test may have set. */
  store: UnstuckOptions['store']
  /** Schedules that were declared before. */
  declared: DeclaredJob[]
}

export function declareRecurring(
  { config, schemas, store, declared }: RecurringParts,
  recurring: Pick<RecurringJob, 'name' | 'cron' | 'job'>,
  options: RecurringOptions,
): DeclaredJob {
  const { name, job } = recurring
  requireRecurring(name, job, options)
  const { timezone, overlap } = options
  const timed: RecurringJob = {
    ...recurring,
    ...(timezone === undefined ? {} : { timezone }),
    ...(overlap === undefined ? {} : { overlap }),
  }
  if (declared.some((other) => other.name === name))
    throw invalidArgument('name', name, 'a name that has no schedule yet')
  checkRecurringJob(timed)
  checkNewJob(job, config)
  schemas.checkScheduled(job)
  const [grouped = job] = schemas.withGroups([job])
  return { ...timed, job: grouped, ...(store === undefined ? {} : { declaredAt: new Date(store.now()) }) }
}
