// Checks payloads and results by the schemas of the declared jobs: at enqueue, before the handler and after it (WORK-8).
import type { PgClient } from '../../compose/index.ts'
import { invalidArgument, permanentError, UnstuckError } from '../../errors/index.ts'
import { checkGroup } from '../../job/check-new-job.ts'
import { type JobDeclarations, requireDeclared } from '../../job/declared-jobs.ts'
import type { NewJob } from '../../job/job.ts'
import { showPath } from '../../job/json-loss.ts'
import { jsonText } from '../../job/json-text.ts'
import type { ClaimedJob } from '../../job/lease.ts'
import {
  isStandardSchema,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from '../../job/standard-schema.ts'
import type { Handler, JobContext } from '../../runtime/attempt/handler.ts'
import type { Success } from './job-waits.ts'

/** Jobs that are declared, or any job if nothing is. */
export class JobSchemas {
  readonly #jobs: JobDeclarations | undefined

  constructor(jobs: JobDeclarations | undefined) {
    for (const [type, declaration] of Object.entries(jobs ?? {}))
      if (typeof declaration !== 'object' || declaration === null || isStandardSchema(declaration))
        throw invalidArgument(`jobs.${type}`, declaration, 'job<Payload>() or job({ payload: schema })', {
          withhold: true,
        })
    this.#jobs = jobs
  }

  requireDeclared(type: string): void {
    if (this.#jobs !== undefined) requireDeclared(this.#jobs, type)
  }

  /** Resolves when every job fits; undefined if that is known at once, so that most calls need not wait. */
  checkJobs(jobs: NewJob[]): Promise<void> | undefined {
    if (this.#jobs === undefined) return undefined
    const pending: Promise<void>[] = []
    for (const [index, job] of jobs.entries()) {
      this.requireDeclared(job.type)
      const schema = this.#jobs[job.type]?.payload
      if (schema === undefined) continue
      const name = jobs.length === 1 ? 'payload' : `jobs[${index}].payload`
      // Enqueued without a payload, a job has an empty one.
      const result = validate(schema, asStored(job.payload === undefined ? {} : job.payload))
      if (result instanceof Promise) pending.push(result.then((later) => requireFit(job.type, name, later)))
      else requireFit(job.type, name, result)
    }
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => {})
  }

  /** The jobs with the groups that their declarations give them; null is none, as undefined is. */
  withGroups(jobs: NewJob[]): NewJob[] {
    if (this.#jobs === undefined) return jobs
    return jobs.map((job) => {
      if (job.group !== undefined) return job
      const group: unknown = this.#jobs?.[job.type]?.group?.(job.payload === undefined ? {} : job.payload)
      if (group === undefined || group === null) return job
      // Refused here, it fails alone: the database would refuse its batch, and abort the caller's transaction.
      checkGroup(job.type, group)
      return { ...job, group: group as string }
    })
  }

  /** The result as its schema makes it, from the value that is stored. */
  async readResult({ type, result }: Success): Promise<unknown> {
    this.requireDeclared(type)
    const schema = this.#jobs?.[type]?.result
    if (schema === undefined) return result
    const fit = await validate(schema, result)
    if (fit.issues === undefined) return fit.value
    // A handler that returned nothing has a null result.
    const absent = result === null ? await validate(schema, undefined) : fit
    if (absent.issues === undefined) return absent.value
    throw new UnstuckError('INVALID_RESULT', misfit(type, 'result', fit.issues).message, {
      details: { type },
      hint: 'The schema may have changed since the job ran; q.store.getJob returns the result as it is stored.',
    })
  }

  /** The job of a schedule. Its schema must answer at once. */
  checkScheduled(job: NewJob): void {
    const checking = this.checkJobs([job])
    if (checking === undefined) return
    checking.catch(() => {})
    throw invalidArgument('job', job.type, 'a job whose schema validates synchronously')
  }

  /** The handler, behind the checks of its type. A handler in a file gets the payload as it is stored. */
  guard(type: string, handler: Handler<PgClient>, { isFile }: { isFile: boolean }): Handler<PgClient> {
    const checked = this.guardResult(type, handler)
    if (this.#jobs?.[type]?.payload === undefined) return checked
    return async (job, context) => {
      const payload = (await this.readPayload(job)) as typeof job.payload
      return checked(isFile ? job : { ...job, payload }, context)
    }
  }

  /** The handler, behind the check of its results alone. */
  guardResult(type: string, handler: Handler<PgClient>): Handler<PgClient> {
    const schema = this.#jobs?.[type]?.result
    return schema === undefined ? handler : withResult(type, schema, handler)
  }

  /** The payload as its schema makes it. Rejects if it does not fit. */
  readPayload({ type, payload }: ClaimedJob): unknown {
    const schema = this.#jobs?.[type]?.payload
    return schema === undefined ? payload : this.#readFit(type, schema, payload)
  }

  async #readFit(type: string, schema: StandardSchema, payload: unknown): Promise<unknown> {
    const fit = await validate(schema, payload)
    if (fit.issues !== undefined) throw misfit(type, 'payload', fit.issues)
    return fit.value
  }
}

function withResult(type: string, schema: StandardSchema, handler: Handler<PgClient>): Handler<PgClient> {
  const check = async (value: unknown) => {
    const fit = await validate(schema, asStored(value))
    if (fit.issues !== undefined) throw misfit(type, 'result', fit.issues)
  }
  return async (job, context) => {
    let isCommitted = false
    const { tx, ownTx } = context
    const checkedTx: JobContext<PgClient>['tx'] = async (work) => {
      const value = await tx(async (client) => {
        const result = await work(client)
        // Inside the transaction, which a result that does not fit rolls back.
        await check(result)
        return result
      })
      isCommitted = true
      return value
    }
    const checkedOwnTx: JobContext<PgClient>['ownTx'] = async (work) => {
      const value = await ownTx((complete) =>
        work(async (client, result) => {
          await check(result)
          return complete(client, result)
        }),
      )
      isCommitted = true
      return value
    }
    // Assigned, not copied: a copy would create the abort signal, which is made on first use.
    Object.assign(context, { tx: checkedTx, ownTx: checkedOwnTx })
    const result = await handler(job, context)
    if (!isCommitted) await check(result)
    return result
  }
}

function validate(
  schema: StandardSchema,
  value: unknown,
): SchemaResult<unknown> | Promise<SchemaResult<unknown>> {
  return schema['~standard'].validate(value)
}

/** The value as it will be read: a Date is a text by then, and an undefined field is absent. */
function asStored(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(jsonText('value', value)) as unknown)
}

function requireFit(type: string, name: string, { issues }: SchemaResult<unknown>): void {
  const [first] = issues ?? []
  if (issues === undefined || first === undefined) return
  const shown = issues.map((issue) => ({ path: `${name}${showPath(pathOf(issue))}`, message: issue.message }))
  const more = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`
  const [{ path, message } = { path: name, message: '' }] = shown
  throw new UnstuckError('INVALID_ARGUMENT', `${type}: ${path}: ${message}${more}`, {
    details: { argument: path, type, issues: shown },
  })
}

/** Ends the job at once. Neither messages nor paths of a schema reach logs or rows: they may contain data. */
function misfit(type: string, what: 'payload' | 'result', issues: readonly SchemaIssue[]): Error {
  const code = what === 'payload' ? 'INVALID_PAYLOAD' : 'INVALID_RESULT'
  const count = issues.length === 1 ? 'one issue' : `${issues.length} issues`
  const error = permanentError(`the ${what} does not fit the schema of ${type}: ${count}`, { code })
  // For listeners of this process: not enumerable, so that no serializer of errors writes it.
  return Object.defineProperty(error, 'issues', { value: issues })
}

function pathOf({ path = [] }: SchemaIssue): PropertyKey[] {
  return path.map((segment) => (typeof segment === 'object' ? segment.key : segment))
}
