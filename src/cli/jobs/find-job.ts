import type { DeploymentTable } from '../../compose/index.ts'
import { UnstuckError } from '../../errors/index.ts'
import { showTime } from '../terminal/duration.ts'

export interface FoundJob {
  table: DeploymentTable
  jobId: string
}

const MIN_PREFIX = 4
const SHOWN = 5

/** The only job whose id starts with this prefix, in any table. */
export async function findJob(tables: DeploymentTable[], prefix: string): Promise<FoundJob> {
  if (prefix.startsWith('…'))
    throw new UnstuckError('INVALID_ARGUMENT', `job ${prefix}: this is the end of an id`, {
      hint: 'Give the whole id, or its beginning: Enter shows it in unstuck top, and unstuck jobs list prints it.',
    })
  const found: FoundJob[] = []
  for (const table of tables) {
    const jobIds = await table.store.findJobIds(prefix, SHOWN + 1)
    found.push(...jobIds.map((jobId) => ({ table, jobId })))
  }
  const whole = found.filter(({ jobId }) => jobId === prefix.toLowerCase() || jobId === prefix)
  const [job, ...others] = whole.length === 1 ? whole : found
  if (job === undefined) throw await notFound(tables, prefix)
  if (whole.length === 1) return job
  if (prefix.length < MIN_PREFIX) {
    throw new UnstuckError(
      'INVALID_ARGUMENT',
      `job ${prefix}: give at least ${MIN_PREFIX} characters of the id`,
    )
  }
  if (others.length === 0) return job
  const shown = found.slice(0, SHOWN).map(({ table, jobId }) => `${jobId} (${table.name})`)
  throw new UnstuckError('INVALID_ARGUMENT', `job ${prefix}: more than one id starts with this`, {
    hint: `${shown.join(', ')}${found.length > SHOWN ? ', …' : ''}`,
  })
}

/** The event of a discarded job names the actor. */
async function notFound(tables: DeploymentTable[], jobId: string): Promise<UnstuckError> {
  for (const { store } of tables) {
    const event = (await store.listEvents(jobId.toLowerCase())).find(({ type }) => type === 'discarded')
    if (event === undefined) continue
    const { actor, reason } = event.data.details
    const why = typeof reason === 'string' ? `: ${reason}` : ''
    const who = typeof actor === 'string' ? ` by ${actor}` : ''
    return new UnstuckError('JOB_NOT_FOUND', `job ${jobId}: discarded ${showTime(event.at)}${who}${why}`)
  }
  return new UnstuckError('JOB_NOT_FOUND', `job ${jobId}: no id starts with this`)
}

/** All of them, or an error if one of the ids is wrong. */
export async function findJobs(tables: DeploymentTable[], prefixes: string[]): Promise<FoundJob[]> {
  const jobs: FoundJob[] = []
  for (const prefix of prefixes) jobs.push(await findJob(tables, prefix))
  return jobs
}
