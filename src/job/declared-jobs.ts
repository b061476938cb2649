// The jobs of an application, declared in one place: names, payloads and results. TypeScript infers the types from the
// declarations; schemas are also checked at run time (WORK-8).
import { closestName, invalidArgument } from '../errors/index.ts'
import type { JsonValue, NewJob, NewJobFields } from './job.ts'
import type { ClaimedJob } from './lease.ts'
import { isStandardSchema, type StandardSchema } from './standard-schema.ts'

/** An `Input` is given and stored; the other type is what the schema makes of it. */
export interface JobDeclaration<
  PayloadInput = unknown,
  Payload = unknown,
  ResultInput = unknown,
  Result = unknown,
> {
  readonly payload?: StandardSchema<PayloadInput, Payload> | undefined
  readonly result?: StandardSchema<ResultInput, Result> | undefined
  /** The group of a job, by its payload as it is enqueued; `group` of the job itself overrides it. */
  group?(this: void, payload: PayloadInput): string | undefined
}

export type JobDeclarations = { readonly [type: string]: JobDeclaration }

type TypesOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>

/** A job whose payload, and result, have these types. They are not checked at run time. */
export function job<Payload = unknown, Result = unknown>(
  rules?: Pick<JobDeclaration<Payload>, 'group'>,
): JobDeclaration<Payload, Payload, Result, Result>
/** A job whose payload, and result, are checked by schemas of zod, valibot, arktype or any other Standard Schema. */
export function job<
  PayloadSchema extends StandardSchema = StandardSchema,
  ResultSchema extends StandardSchema = StandardSchema,
>(schemas: {
  payload?: PayloadSchema
  result?: ResultSchema
  group?(this: void, payload: TypesOf<PayloadSchema>['input']): string | undefined
}): JobDeclaration<
  TypesOf<PayloadSchema>['input'],
  TypesOf<PayloadSchema>['output'],
  TypesOf<ResultSchema>['input'],
  TypesOf<ResultSchema>['output']
>
export function job(schemas: JobDeclaration = {}): JobDeclaration {
  if (typeof schemas !== 'object' || schemas === null || isStandardSchema(schemas))
    throw invalidArgument('job', schemas, 'job<Payload>() or job({ payload: schema, result: schema })', {
      withhold: true,
    })
  for (const field of ['payload', 'result'] as const)
    if (schemas[field] !== undefined && !isStandardSchema(schemas[field]))
      throw invalidArgument(field, schemas[field], 'a Standard Schema, such as z.object({ … })', {
        withhold: true,
      })
  if (schemas.group !== undefined && typeof schemas.group !== 'function')
    throw invalidArgument('group', schemas.group, 'a function of the payload', { withhold: true })
  return schemas
}

/** The declarations as they are, with the names of their types known to TypeScript. */
export function defineJobs<const Jobs extends JobDeclarations>(jobs: Jobs): Jobs {
  return jobs
}

/** Refuses a type that is not declared: no worker of the application would run it. */
export function requireDeclared(jobs: JobDeclarations, type: string): void {
  if (Object.hasOwn(jobs, type)) return
  const declared = Object.keys(jobs)
  const closest = closestName(type, declared)
  const proposal = closest === undefined ? '' : ` — did you mean ${closest}?`
  throw invalidArgument('type', type, `one of the declared jobs: ${declared.join(', ')}${proposal}`)
}

/** Without declarations, any type is allowed. */
export type AreOpen<Jobs extends JobDeclarations> = string extends keyof Jobs ? true : false

export type JobType<Jobs extends JobDeclarations> = keyof Jobs & string

/** The payload that `enqueue` takes and stores. */
export type PayloadInputOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> =
  Jobs[Type] extends JobDeclaration<infer Input> ? Input : never

/** The payload that a handler gets. */
export type PayloadOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> =
  Jobs[Type] extends JobDeclaration<unknown, infer Payload> ? Payload : never

/** The result that a handler returns, as it is stored. */
export type ResultInputOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> =
  Jobs[Type] extends JobDeclaration<unknown, unknown, infer Input> ? Input : never

/** The result that a caller gets who waits for the job. */
export type ResultOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> =
  Jobs[Type] extends JobDeclaration<unknown, unknown, unknown, infer Result> ? Result : never

type PayloadField<Payload> = undefined extends Payload ? { payload?: Payload } : { payload: Payload }

/** A job to enqueue, of one of the declared types. */
export type JobToEnqueue<
  Jobs extends JobDeclarations,
  Type extends JobType<Jobs> = JobType<Jobs>,
  Fields = NewJobFields,
> =
  AreOpen<Jobs> extends true
    ? NewJob
    : { [Name in Type]: Fields & { type: Name } & PayloadField<PayloadInputOf<Jobs, Name>> }[Type]

/** A claimed job of one of the declared types, as events carry it: with its payload as it is stored. */
export type DeclaredClaim<Jobs extends JobDeclarations> =
  AreOpen<Jobs> extends true
    ? ClaimedJob<JsonValue>
    : { [Name in JobType<Jobs>]: ClaimedJob<PayloadInputOf<Jobs, Name>, Name> }[JobType<Jobs>]
